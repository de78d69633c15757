"""Containers in and out of the frameworks' own trees and modules, a file for each framework."""

from nestarray.interchange import naming as naming
