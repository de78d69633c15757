"""The functions of `tf.raw_ops` against TensorFlow."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import nestarray as na
import nestarray.frontends.tensorflow as frontend
from nestarray import backends
from nestarray.errors import ArgumentError
from nestarray.frontends.tensorflow import candidates
from nestarray.importers.tensorflow.operations import function_of
from tests.arrays import host, on
from tests.frontends import tensorflow_expressions as expressions
from tests.frontends.expressions import assert_same

X = """Abs Acos:p Acosh:p+1 Asin:p Asinh Atan Atanh:p BesselI0 BesselI0e BesselI1 BesselI1e Ceil ComplexAbs:c Cos Cosh Digamma:p Erf Erfc Erfinv:p Exp Expm1 Floor Inv Invert:i IsFinite:e IsInf:e IsNan:e Lgamma Log:p Log1p:p LogicalNot:b Ndtri:p Neg OnesLike PopulationCount:i Reciprocal Rint Round Rsqrt:p Sigmoid Sign Sin Sinh Sqrt:p Square Spence:p Tan Tanh ZerosLike DeepCopy InvertPermutation:k[:3] BesselJ0 BesselJ1 BesselK0:p BesselK0e:p BesselK1:p BesselK1e:p BesselY0:p BesselY1:p Dawsn Expint:p FresnelCos FresnelSin"""
XY = """Add AddV2 Sub Mul RealDiv Div DivNoNan MulNoNan Maximum Minimum SquaredDifference FloorDiv FloorMod Mod TruncateMod Less LessEqual Greater GreaterEqual Equal NotEqual Xdivy:p,p Xlogy:p,p Xlog1py:p,p Pow:p,y TruncateDiv:i,j Div:i,j FloorDiv:i,j BitwiseAnd:i,j BitwiseOr:i,j BitwiseXor:i,j LeftShift:j,j RightShift:i,j LogicalAnd:b,b2 LogicalOr:b,b2 ApproximateEqual BatchMatMul:t,t[:,:1,:1]*x[:,:1,None]*w[:,None] BatchMatMulV2:m,a"""
FEATURES = "Relu Relu6 Elu Selu Softplus Softsign LeakyRelu"

ROWS = """
AddN(inputs=[x, y]); Angle(input=c); Atan2(y=y, x=x); Betainc(a=p, b=p, x=p); Bitcast(input=x, type='int32'); Cast(x=x, DstT='int32'); Cast(x=i, DstT='float32'); Cast(x=b, DstT='float32'); ClipByValue(t=x, clip_value_min=-0.5, clip_value_max=0.5); Complex(real=x, imag=y); Conj(input=c); Igamma(a=p, x=p); Igammac(a=p, x=p); Imag(input=c); Real(input=c)
Polygamma(a=z * 0 + 2, x=p); Select(condition=b, x=x, y=y); Select(condition=b[:, 0], x=x, y=y); Zeta(x=p + 1, q=p + 1); NextAfter(x1=holes, x2=y); SelectV2(condition=b, t=x, e=y); Softmax(logits=x); LogSoftmax(logits=x); StopGradient(input=x); ToBool(input=x); ToBool(input=0.0)
Sum(input=x, axis=[0]); Sum(input=t, axis=[0, 2], keep_dims=True); Mean(input=x, axis=1); Prod(input=x, axis=[1]); Max(input=x, axis=[0]); Min(input=x, axis=[-1]); All(input=b, axis=[1]); Any(input=b, axis=[0]); EuclideanNorm(input=x, axis=[1]); ArgMax(input=x, dimension=1); ArgMin(input=x, dimension=0, output_type='int32'); Cumsum(x=x, axis=1); Cumsum(x=x, axis=0, exclusive=True, reverse=True); Cumprod(x=x, axis=1); CumulativeLogsumexp(x=x, axis=1); L2Loss(t=x)
Conv2D(input=image, filter=f2, strides=[1, 2, 1, 1], padding='SAME'); Conv2D(input=image, filter=f2, strides=[1, 1, 1, 1], padding='EXPLICIT', explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0]); Conv3D(input=volume, filter=f3, strides=[1, 1, 2, 1, 1], padding='SAME'); Conv(input=image, filter=f2, strides=[1, 1, 1, 1], padding='VALID'); DepthwiseConv2dNative(input=image, filter=f2, strides=[1, 1, 1, 1], padding='SAME')
Conv2DBackpropInput(input_sizes=[2, 11, 9, 3], filter=f2[:, :, :, :3], out_backprop=image, strides=[1, 2, 2, 1], padding='SAME'); Conv2DBackpropInput(input_sizes=[2, 8, 6, 3], filter=f2[:, :, :, :3], out_backprop=image, strides=[1, 1, 1, 1], padding='VALID'); Conv2DBackpropFilter(input=image, filter_sizes=[3, 2, 3, 3], out_backprop=image, strides=[1, 1, 1, 1], padding='SAME')
Conv3DBackpropInputV2(input_sizes=[1, 4, 10, 3, 2], filter=f3[:, :, :, :, :2], out_backprop=volume, strides=[1, 1, 2, 1, 1], padding='SAME'); Conv3DBackpropFilterV2(input=volume, filter_sizes=[2, 3, 2, 2, 2], out_backprop=volume, strides=[1, 1, 1, 1, 1], padding='SAME'); DepthwiseConv2dNativeBackpropInput(input_sizes=[2, 6, 5, 1], filter=f2[:, :, :1, :3], out_backprop=image, strides=[1, 1, 1, 1], padding='SAME')
DepthwiseConv2dNativeBackpropFilter(input=image, filter_sizes=[3, 2, 3, 1], out_backprop=image, strides=[1, 1, 1, 1], padding='SAME'); BiasAdd(value=image, bias=z); BiasAdd(value=t, bias=z, data_format='NCHW'); BiasAddV1(value=x, bias=z); BiasAddGrad(out_backprop=image)
MaxPool(input=image, ksize=[1, 2, 2, 1], strides=[1, 2, 1, 1], padding='SAME'); MaxPoolV2(input=image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID'); MaxPool3D(input=volume, ksize=[1, 2, 2, 2, 1], strides=[1, 1, 2, 2, 1], padding='SAME'); AvgPool(value=image, ksize=[1, 3, 2, 1], strides=[1, 2, 2, 1], padding='SAME'); AvgPool3D(input=volume, ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding='SAME'); MaxPoolWithArgmax(input=image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID')
AvgPoolGrad(orig_input_shape=[2, 6, 5, 3], grad=image[:, :3, :3], ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='SAME'); AvgPool3DGrad(orig_input_shape=[1, 4, 5, 3, 2], grad=volume[:, :2, :3, :2], ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding='SAME'); MaxPoolGrad(orig_input=image, orig_output=MaxPool(input=image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID'), grad=image[:, :3, :2], ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID')
MaxPoolGradV2(orig_input=image, orig_output=MaxPool(input=image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID'), grad=image[:, :3, :2], ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID'); MaxPoolGradWithArgmax(input=image, grad=image[:, :3, :2], argmax=MaxPoolWithArgmax(input=image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID')[1], ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID'); MaxPool3DGrad(orig_input=volume, orig_output=MaxPool3D(input=volume, ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding='VALID'), grad=volume[:, :2, :2, :1], ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding='VALID')
Reshape(tensor=t, shape=[-1, 6]); Squeeze(input=x[:, :1], axis=[1]); Squeeze(input=x[:1]); ExpandDims(input=x, axis=-1); Transpose(x=t, perm=[2, 0, 1]); ConjugateTranspose(x=c, perm=[1, 0]); ConcatV2(values=[x, y], axis=-1); Concat(concat_dim=0, values=[x, y]); ConcatOffset(concat_dim=0, shape=[l, l]); Pack(values=[x, y], axis=1); Unpack(value=t, num=3, axis=1); Split(axis=2, value=t, num_split=2); SplitV(value=t, size_splits=[1, -1], axis=2, num_split=2); Tile(input=x, multiples=[2, 1])
BroadcastTo(input=z, shape=[2, 3]); BroadcastArgs(s0=l, s1=l[1:]); BroadcastGradientArgs(s0=l, s1=l[1:]); Pad(input=x, paddings=[[1, 0], [0, 2]]); PadV2(input=x, paddings=[[1, 0], [0, 2]], constant_values=2.0); MirrorPad(input=x, paddings=[[1, 0], [0, 2]], mode='REFLECT'); MirrorPad(input=x, paddings=[[1, 0], [0, 2]], mode='SYMMETRIC'); ReverseV2(tensor=x, axis=[1]); Reverse(tensor=x, dims=[True, False]); ReverseSequence(input=t, seq_lengths=l, seq_dim=1, batch_dim=0); Roll(input=x, shift=[1], axis=[1])
Fill(dims=[2, 3], value=x[0, 0]); LinSpace(start=y[0, 0], stop=x[0, 0], num=5); OneHot(indices=k, depth=3, on_value=x[0, 0], off_value=y[0, 0]); Shape(input=x); ShapeN(input=[x, t]); Rank(input=x); Size(input=x); Identity(input=x); IdentityN(input=[x, y]); DepthToSpace(input=t[:, :, None], block_size=2); SpaceToDepth(input=image[:, :, :4], block_size=2); EnsureShape(input=x, shape=[2, 3]); ParallelConcat(values=[x[:1], y[:1]], shape=[2, 3])
SpaceToBatchND(input=image, block_shape=[2, 5], paddings=[[1, 1], [0, 0]]); BatchToSpaceND(input=SpaceToBatchND(input=image, block_shape=[2, 5], paddings=[[1, 1], [0, 0]]), block_shape=[2, 5], crops=[[1, 1], [0, 0]]); SpaceToBatch(input=image[:, :, :4], paddings=[[0, 0], [1, 1]], block_size=2); BatchToSpace(input=SpaceToBatch(input=image[:, :, :4], paddings=[[0, 0], [1, 1]], block_size=2), crops=[[0, 0], [1, 1]], block_size=2); MirrorPadGrad(input=t, paddings=[[0, 0], [1, 0], [0, 1]], mode='REFLECT'); Range(start=1, limit=x.shape[0] + 3, delta=2); Empty(shape=[2, 0], dtype='float32')
GatherV2(params=t, indices=k[:2], axis=1); GatherV2(params=t, indices=j % 3, axis=1, batch_dims=1); Gather(params=tall, indices=k); GatherNd(params=t, indices=k[1:3][None]); ScatterNd(indices=k[1:4][:, None] // 2, updates=tall, shape=[4, 2]); TensorScatterUpdate(tensor=tall, indices=k[:2][:, None], updates=x[:, :2]); TensorScatterAdd(tensor=tall, indices=k[1:3][:, None] * 0, updates=x[:, :2]); TensorScatterSub(tensor=tall, indices=k[1:3][:, None] * 0, updates=x[:, :2]); TensorScatterMax(tensor=tall, indices=k[1:3][:, None], updates=x[:, :2]); TensorScatterMin(tensor=tall, indices=k[1:3][:, None], updates=x[:, :2])
Slice(input=t, begin=[0, 1, 1], size=[1, -1, 2]); StridedSlice(input=t, begin=[0, 1], end=[2, 3], strides=[1, 1]); StridedSlice(input=t, begin=[0, 1], end=[0, 3], strides=[1, 1], begin_mask=1, end_mask=1, shrink_axis_mask=2); StridedSlice(input=t, begin=[0, 0], end=[0, 1], strides=[1, 1], ellipsis_mask=1, new_axis_mask=2); StridedSliceGrad(shape=[4, 4], begin=[0, 1], end=[2, 4], strides=[1, 1], dy=x); TensorStridedSliceUpdate(input=m, begin=[0, 0], end=[2, 3], strides=[1, 1], value=x)
InplaceUpdate(x=tall * 1.0, i=k[2:3], v=x[:1, :2]); InplaceAdd(x=tall * 1.0, i=k[2:3], v=x[:1, :2]); InplaceSub(x=tall * 1.0, i=k[2:3], v=x[:1, :2]); Where(condition=b); Where(condition=holes); DynamicStitch(indices=[k[:2], k[2:3]], data=[tall[:2], tall[2:]]); ParallelDynamicStitch(indices=[k[:2], k[2:3]], data=[tall[:2], tall[2:]])
MatMul(a=x, b=m); MatMul(a=x, b=y, transpose_a=True); MatMul(a=x, b=y, transpose_b=True); BatchMatMulV2(x=c, y=c, adj_y=True); BatchMatMulV3(x=x, y=m, Tout='float32'); Einsum(inputs=[x, m], equation='ij,jk->ik'); Cross(a=x, b=y)
MatrixBandPart(input=m, num_lower=1, num_upper=0); MatrixBandPart(input=t, num_lower=0, num_upper=-1); MatrixDiag(diagonal=x); MatrixDiagPart(input=t); MatrixSetDiag(input=m, diagonal=z); Diag(diagonal=z); DiagPart(input=m); Cholesky(input=a); CholeskyGrad(l=Cholesky(input=a), grad=m); MatrixInverse(input=m); MatrixInverse(input=cm, adjoint=True); MatrixDeterminant(input=m); LogMatrixDeterminant(input=m); MatrixSolve(matrix=m, rhs=tall); MatrixTriangularSolve(matrix=m, rhs=tall)
MatrixTriangularSolve(matrix=m, rhs=tall, lower=False, adjoint=True); MatrixSquareRoot(input=a); Svd(input=m, compute_uv=True)[0]; Qr(input=m)[1] ** 2; SelfAdjointEigV2(input=a)[0]; MatrixDiagV3(diagonal=x, k=1, num_rows=-1, num_cols=-1, padding_value=0.0); MatrixDiagPartV3(input=t, k=[-1, 0], padding_value=1.0); MatrixSetDiagV3(input=m, diagonal=z, k=0); Lu(input=m)
ReluGrad(gradients=x, features=y); Relu6Grad(gradients=x, features=y * 5); LeakyReluGrad(gradients=x, features=y); EluGrad(gradients=x, outputs=holes); SeluGrad(gradients=x, outputs=holes); SigmoidGrad(y=p, dy=x); TanhGrad(y=p, dy=x); SqrtGrad(y=p, dy=x); RsqrtGrad(y=p, dy=x); ReciprocalGrad(y=p, dy=x); InvGrad(y=p, dy=x); SoftplusGrad(gradients=x, features=y); SoftsignGrad(gradients=x, features=y)
FusedBatchNormV3(x=image, scale=z, offset=z, mean=z, variance=z * z, is_training=False)[0]; FusedBatchNormV3(x=image, scale=z, offset=z, mean=z, variance=z * z)[:3]; FusedBatchNormV3(x=image, scale=z, offset=z, mean=z, variance=z * z, exponential_avg_factor=0.5)[:3]; FusedBatchNormV2(x=image, scale=z, offset=z, mean=z, variance=z * z, is_training=False)[0]; FusedBatchNorm(x=image, scale=z, offset=z, mean=z, variance=z * z, is_training=False)[0]; LRN(input=image, depth_radius=1)
FusedBatchNormGradV3(y_backprop=image, x=image * image, scale=z, reserve_space_1=z, reserve_space_2=z * z, reserve_space_3=z, is_training=False)[:3]; FusedBatchNormGradV2(y_backprop=image, x=image * image, scale=z, reserve_space_1=z, reserve_space_2=z * z, is_training=False)[:3]; FusedBatchNormGrad(y_backprop=image, x=image * image, scale=z, reserve_space_1=z, reserve_space_2=z * z, is_training=False)[:3]
SoftmaxCrossEntropyWithLogits(features=x, labels=p)[0]; SparseSoftmaxCrossEntropyWithLogits(features=x, labels=k[:2])[0]
TopKV2(input=x, k=2); InTopK(predictions=x, targets=k[:2], k=2); InTopKV2(predictions=x, targets=k[:2], k=1); NthElement(input=x, n=1); LowerBound(sorted_inputs=p[:1] * 0 + z[None] * 0 + w[:3] * 0 - 0.5, values=x[:1] * 3); UpperBound(sorted_inputs=p[:1] * 0 + z[None] * 0 + w[:3] * 0 - 0.5, values=x[:1] * 3); Bucketize(input=x, boundaries=[-0.5, 0.5]); Unique(x=k); UniqueV2(x=k, axis=[0]); UniqueWithCounts(x=k); ListDiff(x=k, y=l[1:]); UnravelIndex(indices=k, dims=[2, 2]); Bincount(arr=k, size=4, weights=ties); DenseBincount(input=k, size=3, weights=z[:0]); DenseBincount(input=j, size=5, weights=z[:0], binary_output=True)
SegmentSum(data=tall, segment_ids=k[1:4] // 2); SegmentMean(data=tall, segment_ids=k[1:4] // 2); SegmentProd(data=tall, segment_ids=k[1:4] // 2); SegmentMax(data=tall, segment_ids=k[1:4] // 2); SegmentMin(data=tall, segment_ids=k[1:4] // 2); UnsortedSegmentSum(data=tall, segment_ids=k[1:4] % 2, num_segments=3); UnsortedSegmentProd(data=tall, segment_ids=k[1:4] % 2, num_segments=2); UnsortedSegmentMax(data=tall, segment_ids=k[1:4] % 2, num_segments=2); UnsortedSegmentMin(data=tall, segment_ids=k[1:4] % 2, num_segments=2)
FFT(input=c); FFT2D(input=c); FFT3D(input=c[None]); IFFT(input=c); IFFT2D(input=c); IFFT3D(input=c[None]); RFFT(input=t, fft_length=[4]); RFFT2D(input=t, fft_length=[2, 4]); RFFT3D(input=t, fft_length=[2, 3, 4]); IRFFT(input=c, fft_length=[4]); IRFFT2D(input=c, fft_length=[2, 4]); IRFFT3D(input=c[None], fft_length=[1, 2, 4])
StatelessRandomUniform(shape=[3], seed=l); StatelessRandomUniformInt(shape=[3], seed=l, minval=l[1], maxval=l[0] + 7); StatelessRandomUniformFullInt(shape=[3], seed=l, dtype='int32'); StatelessRandomNormal(shape=[3], seed=l); StatelessTruncatedNormal(shape=[3], seed=l); StatelessMultinomial(logits=x, num_samples=3, seed=l)
HSVToRGB(images=p); RGBToHSV(images=p); AdjustContrastv2(images=image, contrast_factor=p[0, 0]); AdjustHue(images=image[:, :, :3] ** 2, delta=p[0, 0]); AdjustSaturation(images=image ** 2, scale=p[0, 0]); ResizeBilinear(images=image, size=[4, 7], half_pixel_centers=True); ResizeNearestNeighbor(images=image, size=[4, 7], half_pixel_centers=True); ResizeBicubic(images=image, size=[4, 7], half_pixel_centers=True); CropAndResize(image=image, boxes=boxes, box_ind=k[1:3], crop_size=[3, 4])
AccumulateNV2(inputs=[x, y], shape=[2, 3]); CheckNumerics(tensor=x, message='x'); CheckNumericsV2(tensor=x, message='x'); GuaranteeConst(input=x); IgammaGradA(a=p, x=p); DynamicPartition(data=tall, partitions=k[1:4] // 2, num_partitions=2); HistogramFixedWidth(values=x, value_range=[-1.0, 1.0], nbins=4); DenseCountSparseOutput(values=k, weights=z[:0], binary_output=False); DenseCountSparseOutput(values=j, weights=x, binary_output=False, minlength=7); DenseCountSparseOutput(values=j, weights=z[:0], binary_output=True, maxlength=3); ApproxTopK(input=x, k=2); ApproxTopK(input=t, k=3); DataFormatDimMap(x=i[0] % 4); DataFormatDimMap(x=k - 2, src_format='NDHWC', dst_format='NCDHW'); DataFormatVecPermute(x=k[:4]); DataFormatVecPermute(x=j[:, :2], src_format='NCHW', dst_format='NHWC'); DataFormatVecPermute(x=Reshape(tensor=Cast(x=t[0, :2] * 9, DstT='int32'), shape=[4, 2]), src_format='NHWC', dst_format='HWNC')
BandedTriangularSolve(matrix=m[:2], rhs=tall); BandedTriangularSolve(matrix=m[:2], rhs=tall, lower=False, adjoint=True); Sum(input=Eig(input=m, Tout='complex64')[0] ** 3, axis=[0]); Sum(input=Eig(input=m, Tout='complex64', compute_v=False)[0] ** 2, axis=[0]); FFTND(input=c, fft_length=[2, 3], axes=[0, 1]); IFFTND(input=c, fft_length=[2, 3], axes=[0, 1]); IRFFTND(input=c, fft_length=[2, 4], axes=[0, 1]); AudioSpectrogram(input=signal[0], window_size=4, stride=2); AudioSpectrogram(input=signal[1], window_size=5, stride=1, magnitude_squared=True)
Conv2DBackpropInputV2(input=image, filter=f2[:, :, :, :3], out_backprop=image[:, :, :3], strides=[1, 1, 2, 1], padding='SAME'); Conv2DBackpropFilterV2(input=image, filter=f2[:, :, :, :3], out_backprop=image, strides=[1, 1, 1, 1], padding='SAME'); FusedPadConv2D(input=image[:1], paddings=[[0, 0], [1, 2], [2, 1], [0, 0]], filter=f2, mode='REFLECT', strides=[1, 1, 1, 1], padding='VALID'); FusedPadConv2D(input=image[:1], paddings=[[0, 0], [1, 2], [2, 1], [0, 0]], filter=f2, mode='SYMMETRIC', strides=[1, 2, 2, 1], padding='SAME'); FusedResizeAndPadConv2D(input=image[:1], size=[8, 7], paddings=[[0, 0], [1, 1], [0, 1], [0, 0]], filter=f2, mode='REFLECT', strides=[1, 1, 1, 1], padding='VALID'); FusedResizeAndPadConv2D(input=image[:1], size=[4, 7], paddings=[[0, 0], [0, 0], [0, 0], [0, 0]], filter=f2, mode='REFLECT', strides=[1, 1, 1, 1], padding='VALID', resize_align_corners=True); Dilation2D(input=image, filter=f2[:, :, :, 0], strides=[1, 1, 2, 1], rates=[1, 1, 1, 1], padding='SAME'); Dilation2D(input=image, filter=f2[:, :, :, 0], strides=[1, 1, 1, 1], rates=[1, 2, 1, 1], padding='VALID'); Dilation2DBackpropInput(input=image, filter=f2[:, :, :, 0], out_backprop=image[:, :, :3], strides=[1, 1, 2, 1], rates=[1, 1, 1, 1], padding='SAME'); Dilation2DBackpropFilter(input=image, filter=f2[:, :, :, 0], out_backprop=image[:, :, :3], strides=[1, 1, 2, 1], rates=[1, 1, 1, 1], padding='SAME'); LRNGrad(input_grads=image, input_image=image * 2, output_image=LRN(input=image * 2, depth_radius=1), depth_radius=1)
CombinedNonMaxSuppression(boxes=boxes_of_many[None, :, None], scores=class_scores, max_output_size_per_class=3, max_total_size=5, iou_threshold=0.3, score_threshold=0.1); CropAndResizeGradImage(grads=image, boxes=boxes, box_ind=k[1:3], image_size=[2, 4, 7, 3], T='float32'); CropAndResizeGradImage(grads=image, boxes=boxes, box_ind=k[1:3], image_size=[2, 4, 7, 3], T='float32', method='nearest'); CropAndResizeGradBoxes(grads=image[:, :4], image=image, boxes=boxes, box_ind=k[1:3]); DrawBoundingBoxes(images=image, boxes=Reshape(tensor=boxes_of_many, shape=[2, 6, 4])); DrawBoundingBoxes(images=image[:, :, :, :1], boxes=boxes[:, None]); DrawBoundingBoxesV2(images=image, boxes=Reshape(tensor=boxes_of_many * 2 - 0.5, shape=[2, 6, 4]), colors=y); DrawBoundingBoxesV2(images=image, boxes=Reshape(tensor=boxes_of_many, shape=[2, 6, 4]), colors=y[:0]); ExtractGlimpse(input=image, size=[3, 2], offsets=x[:, :2], uniform_noise=False, noise='zero'); ExtractGlimpse(input=image, size=[3, 4], offsets=x[:, :2] * 3, uniform_noise=False, noise='zero', normalized=False); ExtractGlimpse(input=image, size=[3, 4], offsets=p[:, :2], uniform_noise=False, noise='zero', centered=False); ExtractGlimpse(input=image, size=[2, 4], offsets=p[:, :2] * 5, uniform_noise=False, noise='zero', centered=False, normalized=False); ExtractGlimpseV2(input=image, size=[3, 2], offsets=x[:, :2], uniform_noise=False, noise='zero'); ExtractGlimpseV2(input=image, size=[3, 4], offsets=p[:, :2], uniform_noise=False, noise='zero', centered=False); ExtractVolumePatches(input=volume, ksizes=[1, 2, 3, 1, 1], strides=[1, 2, 2, 1, 1], padding='SAME'); ImageProjectiveTransformV2(images=image, transforms=Reshape(tensor=t[0, :2] * 0.1, shape=[1, 8]), output_shape=[3, 4], interpolation='BILINEAR'); FakeQuantWithMinMaxArgs(inputs=x, min=-1, max=0.7, num_bits=4); FakeQuantWithMinMaxArgsGradient(gradients=y, inputs=x, min=-1, max=0.7); FakeQuantWithMinMaxVars(inputs=x, min=z[1], max=z[0]); FakeQuantWithMinMaxVarsGradient(gradients=y, inputs=x, min=z[1], max=z[0]); FakeQuantWithMinMaxVarsPerChannel(inputs=x, min=z - 2, max=z + 1, narrow_range=True); FakeQuantWithMinMaxVarsPerChannelGradient(gradients=y, inputs=x, min=z - 2, max=z + 1); AllCandidateSampler(true_classes=Cast(x=j, DstT='int64'), num_true=3, num_sampled=5, unique=True)[0]; ComputeAccidentalHits(true_classes=Cast(x=j, DstT='int64'), sampled_candidates=Cast(x=k[:3], DstT='int64'), num_true=3); FractionalAvgPoolGrad(orig_input_tensor_shape=[2, 6, 4, 3], out_backprop=image[:, :3, :2], row_pooling_sequence=Cast(x=Range(start=0, limit=7, delta=2), DstT='int64'), col_pooling_sequence=Cast(x=Range(start=0, limit=5, delta=2), DstT='int64'), overlapping=True); FractionalMaxPoolGrad(orig_input=image[:, :, :4], orig_output=MaxPool(input=image[:, :, :4], ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID'), out_backprop=image[:, :3, :2], row_pooling_sequence=Cast(x=Range(start=0, limit=7, delta=2), DstT='int64'), col_pooling_sequence=Cast(x=Range(start=0, limit=5, delta=2), DstT='int64'))
LSTMBlockCell(x=x[:, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8])); LSTMBlockCell(x=x[:, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), cell_clip=0.3, use_peephole=True); BlockLSTM(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8])); BlockLSTM(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), cell_clip=0.3, use_peephole=True); BlockLSTMV2(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8])); BlockLSTMV2(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), use_peephole=True); BlockLSTM(seq_len_max=Cast(x=l[0], DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]))[6]; BlockLSTMV2(seq_len_max=Cast(x=l[0], DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]))[6]; LSTMBlockCellGrad(x=x[:, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), i=LSTMBlockCell(x=x[:, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), use_peephole=True)[0], cs=LSTMBlockCell(x=x[:, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), use_peephole=True)[1], f=LSTMBlockCell(x=x[:, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), use_peephole=True)[2], o=LSTMBlockCell(x=x[:, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), use_peephole=True)[3], ci=LSTMBlockCell(x=x[:, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), use_peephole=True)[4], co=LSTMBlockCell(x=x[:, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), use_peephole=True)[5], cs_grad=x[:, 1:], h_grad=y[:, 1:], use_peephole=True); LSTMBlockCellGrad(x=x[:, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), i=LSTMBlockCell(x=x[:, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]))[0], cs=LSTMBlockCell(x=x[:, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]))[1], f=LSTMBlockCell(x=x[:, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]))[2], o=LSTMBlockCell(x=x[:, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]))[3], ci=LSTMBlockCell(x=x[:, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]))[4], co=LSTMBlockCell(x=x[:, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]))[5], cs_grad=x[:, 1:], h_grad=y[:, 1:], use_peephole=False); BlockLSTMGrad(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), i=BlockLSTM(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), use_peephole=True)[0], cs=BlockLSTM(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), use_peephole=True)[1], f=BlockLSTM(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), use_peephole=True)[2], o=BlockLSTM(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), use_peephole=True)[3], ci=BlockLSTM(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), use_peephole=True)[4], co=BlockLSTM(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), use_peephole=True)[5], h=BlockLSTM(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), use_peephole=True)[6], cs_grad=volume[0, :, 1:3, 1], h_grad=volume[0, :, 2:4, 1], use_peephole=True); BlockLSTMGradV2(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]), i=BlockLSTMV2(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]))[0], cs=BlockLSTMV2(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]))[1], f=BlockLSTMV2(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]))[2], o=BlockLSTMV2(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]))[3], ci=BlockLSTMV2(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]))[4], co=BlockLSTMV2(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]))[5], h=BlockLSTMV2(seq_len_max=Cast(x=l[0] + 1, DstT='int64'), x=volume[0, :, :2, 0, :1], cs_prev=y[:, :2], h_prev=p[:, :2], w=Reshape(tensor=t, shape=[3, 8]), wci=z[:2], wcf=z[1:], wco=z[:2], b=Reshape(tensor=t[0, :2], shape=[8]))[6], cs_grad=volume[0, :, 1:3, 1], h_grad=volume[0, :, 2:4, 1], use_peephole=False); GRUBlockCell(x=x[:, :1], h_prev=y[:, :2], w_ru=t[0], w_c=tall, b_ru=v, b_c=w[:2]); GRUBlockCellGrad(x=x[:, :1], h_prev=y[:, :2], w_ru=t[0], w_c=tall, b_ru=v, b_c=w[:2], r=p[:, :2], u=p[:, 1:], c=x[:, 1:], d_h=y[:, 1:])
CTCLoss(inputs=Transpose(x=signal, perm=[1, 0, 2]), labels_indices=Cast(x=Where(condition=b2), DstT='int64'), labels_values=Reshape(tensor=Cast(x=j, DstT='int32'), shape=[6])[:4] % 2, sequence_length=l + 4); CTCLoss(inputs=Transpose(x=signal, perm=[1, 0, 2]), labels_indices=Cast(x=Where(condition=b2), DstT='int64'), labels_values=Reshape(tensor=Cast(x=j, DstT='int32'), shape=[6])[:4] % 2, sequence_length=l, ignore_longer_outputs_than_inputs=True); CTCLoss(inputs=Transpose(x=signal, perm=[1, 0, 2]), labels_indices=Cast(x=Where(condition=b2), DstT='int64'), labels_values=Cast(x=k[:4] // 2, DstT='int32'), sequence_length=l + 4, preprocess_collapse_repeated=True); CTCLossV2(inputs=Transpose(x=signal, perm=[1, 0, 2]), labels_indices=Cast(x=Where(condition=b2), DstT='int64'), labels_values=Reshape(tensor=Cast(x=j, DstT='int32'), shape=[6])[:4] % 2 + 1, sequence_length=l + 4); CTCGreedyDecoder(inputs=Transpose(x=signal, perm=[1, 0, 2]), sequence_length=l + 4); CTCGreedyDecoder(inputs=Transpose(x=signal, perm=[1, 0, 2]), sequence_length=l + 2, merge_repeated=True, blank_index=0); CTCBeamSearchDecoder(inputs=Transpose(x=signal, perm=[1, 0, 2]), sequence_length=l + 4, beam_width=20, top_paths=3); CTCBeamSearchDecoder(inputs=Transpose(x=signal, perm=[1, 0, 2]), sequence_length=l + 4, beam_width=20, top_paths=2, merge_repeated=False); IsotonicRegression(input=x); IsotonicRegression(input=Reshape(tensor=t, shape=[6, 4])); EditDistance(hypothesis_indices=Cast(x=Where(condition=b), DstT='int64'), hypothesis_values=k[:3], hypothesis_shape=Cast(x=l, DstT='int64'), truth_indices=Cast(x=Where(condition=b2), DstT='int64'), truth_values=k[1:], truth_shape=Cast(x=l, DstT='int64')); EditDistance(hypothesis_indices=Cast(x=Where(condition=b), DstT='int64'), hypothesis_values=k[:3], hypothesis_shape=Cast(x=l, DstT='int64'), truth_indices=Cast(x=Where(condition=b2), DstT='int64'), truth_values=k[1:], truth_shape=Cast(x=l, DstT='int64'), normalize=False); EditDistance(hypothesis_indices=Cast(x=Where(condition=Greater(x=holes, y=1.0)), DstT='int64'), hypothesis_values=k[:1], hypothesis_shape=Cast(x=l, DstT='int64'), truth_indices=Cast(x=Where(condition=LogicalAnd(x=b, y=b2)), DstT='int64'), truth_values=k[:2], truth_shape=Cast(x=l, DstT='int64')); EditDistance(hypothesis_indices=Cast(x=Where(condition=LogicalAnd(x=b, y=b2)), DstT='int64'), hypothesis_values=k[:2], hypothesis_shape=Cast(x=l, DstT='int64'), truth_indices=Cast(x=Where(condition=b2), DstT='int64'), truth_values=k[1:], truth_shape=Cast(x=l, DstT='int64'))
ResizeBilinearGrad(grads=image, original_image=image[:, :3, :4], half_pixel_centers=True); ResizeNearestNeighborGrad(grads=image, size=[3, 4], half_pixel_centers=True); ImageProjectiveTransformV3(images=image, transforms=Reshape(tensor=t[0, :2] * 0.1, shape=[1, 8]), output_shape=[3, 4], fill_value=0.5, interpolation='BILINEAR', fill_mode='REFLECT'); ExtractImagePatches(images=image, ksizes=[1, 2, 2, 1], strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding='SAME')
MatrixDiagV2(diagonal=x, k=1, num_rows=-1, num_cols=-1, padding_value=0.5); MatrixDiagPartV2(input=t, k=[-1, 0], padding_value=1.0); MatrixSetDiagV2(input=m, diagonal=x, k=[0, 1]); MatrixLogarithm(input=cm); MatrixSolveLs(matrix=tall, rhs=m, l2_regularizer=0.5); MatrixSolveLs(matrix=x, rhs=x, l2_regularizer=0.1, fast=True); TridiagonalMatMul(superdiag=x[:1], maindiag=x[1:], subdiag=y[:1], rhs=tall); TridiagonalSolve(diagonals=m, rhs=tall)
MaxPoolGradGrad(orig_input=image, orig_output=MaxPool(input=image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID'), grad=image * 0.5, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID'); MaxPoolGradGradV2(orig_input=image, orig_output=MaxPool(input=image, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID'), grad=image * 0.5, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding='VALID'); MaxPool3DGradGrad(orig_input=volume, orig_output=MaxPool3D(input=volume, ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding='VALID'), grad=volume * 0.5, ksize=[1, 2, 2, 2, 1], strides=[1, 2, 2, 2, 1], padding='VALID')
NearestNeighbors(points=tall, centers=x[:, :2], k=2); NearestNeighbors(points=tall, centers=x[:, :2], k=5); SobolSample(dim=3, num_results=4, skip=1); UniqueV2(x=i // 100, axis=[0]); UniqueV2(x=ties[None] * z[:, None] * 0, axis=[0]); UniqueWithCountsV2(x=k, axis=[0]); UniqueWithCountsV2(x=j % 2, axis=[1]); UniqueWithCountsV2(x=k[:, None] * l[None], axis=[0])
PlaceholderWithDefault(input=x, shape=[2, 3])
QuantizeAndDequantizeV2(input=x, input_min=-0.5, input_max=0.7, num_bits=4); QuantizeAndDequantizeV2(input=x, input_min=z * 0 - 0.5, input_max=p[0], num_bits=4, axis=1); QuantizeAndDequantizeV3(input=x, input_min=-0.5, input_max=0.7, num_bits=4); QuantizeAndDequantizeV4(input=x, input_min=p[0, 0] - 1, input_max=p[0, 1], num_bits=4, range_given=True); QuantizeAndDequantizeV4Grad(gradients=x, input=y, input_min=p[0, 0] - 1, input_max=p[0, 1]); QuantizeAndDequantizeV4Grad(gradients=x, input=y, input_min=p[0] - 1, input_max=p[1], axis=1)
ResizeArea(images=image, size=[4, 7]); ResizeArea(images=image, size=[3, 2], align_corners=True); ResizeBicubicGrad(grads=image, original_image=image[:, :3, :4], half_pixel_centers=True); ResizeBilinear(images=image, size=[4, 7]); ResizeBilinear(images=image, size=[4, 7], align_corners=True); ResizeBicubic(images=image, size=[4, 7]); ResizeBicubic(images=image, size=[3, 3], align_corners=True); ResizeNearestNeighbor(images=image, size=[4, 7]); ResizeNearestNeighbor(images=image, size=[4, 7], align_corners=True); ResizeNearestNeighborGrad(grads=image, size=[3, 4], align_corners=True); ResizeBilinearGrad(grads=image, original_image=image[:, :3, :4], align_corners=True); ResizeBicubicGrad(grads=image, original_image=image[:, :3, :4])
ScaleAndTranslate(images=image, size=[4, 7], scale=[0.6, 1.3], translation=[0.4, -0.3]); ScaleAndTranslate(images=image, size=[4, 7], scale=[0.6, 1.3], translation=[0.4, -0.3], kernel_type='triangle', antialias=False); ScaleAndTranslateGrad(grads=image, original_image=image[:, :3, :4], scale=[0.6, 1.3], translation=[0.4, -0.3])
NonMaxSuppression(boxes=boxes_of_many, scores=scores_of_many, max_output_size=6); NonMaxSuppressionV2(boxes=boxes_of_many, scores=scores_of_many, max_output_size=6, iou_threshold=0.2); NonMaxSuppressionV3(boxes=boxes_of_many, scores=scores_of_many, max_output_size=6, iou_threshold=0.5, score_threshold=0.3); NonMaxSuppressionV4(boxes=boxes_of_many, scores=scores_of_many, max_output_size=14, iou_threshold=0.5, score_threshold=0.3, pad_to_max_output_size=True); NonMaxSuppressionV4(boxes=boxes_of_many, scores=scores_of_many, max_output_size=8, iou_threshold=0.5, score_threshold=0.3)
NonMaxSuppressionV5(boxes=boxes_of_many, scores=scores_of_many, max_output_size=8, iou_threshold=0.5, score_threshold=0.1, soft_nms_sigma=0.5); NonMaxSuppressionV5(boxes=boxes_of_many, scores=scores_of_many, max_output_size=14, iou_threshold=0.5, score_threshold=0.1, soft_nms_sigma=0.0, pad_to_max_output_size=True); NonMaxSuppressionWithOverlaps(overlaps=overlaps_of_many, scores=scores_of_many, max_output_size=5, overlap_threshold=0.4, score_threshold=0.1)
RandomGammaGrad(alpha=p * 3, sample=y * y); RandomIndexShuffle(index=3, seed=[1, 2, 3], max_index=9); RandomIndexShuffle(index=k, seed=[7, 2, 9], max_index=300, rounds=6); StatelessRandomBinomial(shape=[20, 3], seed=l, counts=z * z * 20, probs=p[0]); StatelessRandomPoisson(shape=[20, 3], seed=l, lam=z * z * 3, dtype='int32'); StatelessRandomGammaV2(shape=[5, 3], seed=l, alpha=z * z)
StatelessRandomGetKeyCounter(seed=l); StatelessRandomGetAlg(); StatelessRandomGetKeyCounterAlg(seed=l); StatelessRandomUniformV2(shape=[7], key=philox_key, counter=philox_counter, alg=1); StatelessRandomUniformV2(shape=[7], key=philox_key, counter=philox_counter, alg=3, dtype='float16'); StatelessRandomUniformIntV2(shape=[7], key=philox_key, counter=philox_counter, alg=1, minval=l[1], maxval=l[0] + 7); StatelessRandomUniformFullIntV2(shape=[7], key=philox_key, counter=philox_counter, alg=1, dtype='int32')
StatelessRandomNormalV2(shape=[7], key=philox_key, counter=philox_counter, alg=1); StatelessTruncatedNormalV2(shape=[7], key=philox_key, counter=philox_counter, alg=1); StatelessRandomGammaV3(shape=[5, 3], key=philox_key, counter=philox_counter, alg=1, alpha=z * z); StatelessShuffle(value=tall, key=philox_key, counter=philox_counter, alg=1)
SparseToDense(sparse_indices=at, output_shape=[3, 3], sparse_values=v, default_value=q[0]); SparseToDense(sparse_indices=at[:2, 1], output_shape=[5], sparse_values=x[0, 0], default_value=0.0); SparseToDense(sparse_indices=2, output_shape=[5], sparse_values=x[0, 0], default_value=0.0); SparseTensorDenseAdd(a_indices=at, a_values=v, a_shape=[3, 3], b=m); SparseTensorDenseMatMul(a_indices=at, a_values=v, a_shape=[3, 3], b=tall); SparseTensorDenseMatMul(a_indices=at, a_values=v, a_shape=[3, 3], b=x, adjoint_a=True, adjoint_b=True); SparseMatMul(a=x, b=m, a_is_sparse=True); SparseMatMul(a=x, b=m, transpose_b=True); SparseMatMul(a=tall, b=m, transpose_a=True)
SparseAdd(a_indices=at, a_values=v, a_shape=[3, 3], b_indices=at2, b_values=w, b_shape=[3, 3], thresh=0.0); SparseAddGrad(backprop_val_grad=ties, a_indices=at, b_indices=at2, sum_indices=SparseAdd(a_indices=at, a_values=v, a_shape=[3, 3], b_indices=at2[1:3], b_values=w[1:3], b_shape=[3, 3], thresh=0.0)[0]); SparseSparseMaximum(a_indices=at, a_values=v, a_shape=[3, 3], b_indices=at2, b_values=w, b_shape=[3, 3]); SparseSparseMinimum(a_indices=at, a_values=v, a_shape=[3, 3], b_indices=at2, b_values=w, b_shape=[3, 3])
SparseDenseCwiseAdd(sp_indices=at, sp_values=v, sp_shape=[3, 3], dense=z); SparseDenseCwiseMul(sp_indices=at, sp_values=v, sp_shape=[3, 3], dense=z); SparseDenseCwiseDiv(sp_indices=at, sp_values=v, sp_shape=[3, 3], dense=m); SparseSoftmax(sp_indices=at, sp_values=v, sp_shape=[3, 3])
SparseReduceSum(input_indices=at, input_values=v, input_shape=[3, 3], reduction_axes=[0]); SparseReduceMax(input_indices=at, input_values=v, input_shape=[3, 3], reduction_axes=[1], keep_dims=True); SparseReduceSumSparse(input_indices=at, input_values=v, input_shape=[3, 3], reduction_axes=[0]); SparseReduceMaxSparse(input_indices=at, input_values=v, input_shape=[3, 3], reduction_axes=[1])
SparseReorder(input_indices=at[:, :-1], input_values=v, input_shape=[3]); SparseReshape(input_indices=at, input_shape=[3, 3], new_shape=[1, -1]); SparseConcat(indices=[at, at2], values=[v, w], shapes=[[3, 3], [3, 3]], concat_dim=1); SparseSplit(split_dim=1, indices=at, values=v, shape=[3, 3], num_split=2); SparseSlice(indices=at, values=v, shape=[3, 3], start=[0, 1], size=[2, 2]); SparseSliceGrad(backprop_val_grad=v[:2], input_indices=at, input_start=Cast(x=Range(start=0, limit=2, delta=1), DstT='int64'), output_indices=SparseSlice(indices=at, values=v, shape=[3, 3], start=[0, 1], size=[2, 2])[0])
SparseFillEmptyRows(indices=at, values=v, dense_shape=[5, 3], default_value=q[0]); SparseFillEmptyRows(indices=at2, values=v, dense_shape=[3, 3], default_value=0.5); SparseFillEmptyRowsGrad(reverse_index_map=at[:, 0] + 1, grad_values=ties)
SparseBincount(indices=at, values=k[:4], dense_shape=[3, 3], size=2, weights=v); SparseBincount(indices=at, values=k[:4], dense_shape=[3, 3], size=4, weights=z[:0], binary_output=True); SparseBincount(indices=at[:2, 1:], values=k[:2], dense_shape=[3], size=4, weights=z[:0]); SparseCountSparseOutput(indices=at, values=k[:4], dense_shape=[3, 3], weights=z[:0], binary_output=False); SparseCountSparseOutput(indices=at, values=k[:4], dense_shape=[3, 3], weights=v, binary_output=False, maxlength=2); SparseCountSparseOutput(indices=at[:2, 1:], values=k[:2], dense_shape=[3], weights=v[:2], binary_output=False, minlength=5)
SparseSegmentSum(data=tall, indices=[0, 2, 1, 2], segment_ids=[0, 0, 1, 3]); SparseSegmentMean(data=tall, indices=[0, 2, 1, 2], segment_ids=[0, 0, 1, 3]); SparseSegmentSqrtN(data=tall, indices=[0, 2, 1, 2], segment_ids=[0, 0, 1, 3]); SparseSegmentSumWithNumSegments(data=tall, indices=[0, 2, 1, 2], segment_ids=[0, 0, 1, 3], num_segments=5); SparseSegmentMeanWithNumSegments(data=tall, indices=[0, 2, 1, 2], segment_ids=[0, 0, 1, 3], num_segments=5); SparseSegmentSqrtNWithNumSegments(data=tall, indices=[0, 2, 1, 2], segment_ids=[0, 0, 1, 3], num_segments=5)
SparseSegmentSumGrad(grad=tall, indices=[0, 2, 3, 2], segment_ids=[0, 0, 1, 2], output_dim0=5); SparseSegmentMeanGrad(grad=tall, indices=[0, 2, 3, 2], segment_ids=[0, 0, 1, 2], output_dim0=5); SparseSegmentSqrtNGrad(grad=tall, indices=[0, 2, 3, 2], segment_ids=[0, 0, 1, 2], output_dim0=5); SparseSegmentSumGradV2(grad=tall, indices=k[1:] + 1, segment_ids=Range(start=0, limit=4, delta=1) // 2, dense_output_dim0=5); SparseSegmentMeanGradV2(grad=tall, indices=k[1:] + 1, segment_ids=Range(start=0, limit=4, delta=1) // 2, dense_output_dim0=5); SparseSegmentSqrtNGradV2(grad=tall, indices=k[1:] + 1, segment_ids=Range(start=0, limit=4, delta=1) // 2, dense_output_dim0=5)
ScatterNdNonAliasingAdd(input=tall, indices=k[:2][:, None], updates=x[:, :2]); Snapshot(input=x); Mfcc(spectrogram=t * t, sample_rate=16000, filterbank_channel_count=5, dct_coefficient_count=3); Mfcc(spectrogram=overlaps_of_many[None], sample_rate=9000, upper_frequency_limit=3000); SegmentSumV2(data=tall, segment_ids=k[1:4] // 2, num_segments=3); SegmentProdV2(data=tall, segment_ids=k[1:4] // 2, num_segments=3); SegmentMaxV2(data=tall, segment_ids=k[1:4] // 2, num_segments=3); SegmentMinV2(data=tall, segment_ids=k[1:4] // 2, num_segments=3); RFFTND(input=t, fft_length=[3, 4], axes=[1, 2]); StatelessSampleDistortedBoundingBox(image_size=[60, 40, 3], bounding_boxes=boxes_of_many[None] * 0.8, min_object_covered=0.3, seed=l)
SetSize(set_indices=at, set_values=k[:4], set_shape=[4, 3]); DenseToDenseSetOperation(set1=i, set2=j, set_operation='intersection'); DenseToDenseSetOperation(set1=i, set2=j, set_operation='b-a'); DenseToSparseSetOperation(set1=i, set2_indices=at2[:3], set2_values=k[:3], set2_shape=[2, 3], set_operation='a-b'); SparseToSparseSetOperation(set1_indices=at, set1_values=k[:4], set1_shape=[3, 3], set2_indices=at2, set2_values=k[:4], set2_shape=[3, 3], set_operation='union')
"""


def _unary(row: str, parameter: str) -> str:
    name, _, value = row.partition(":")
    return f"{name}({parameter}={value or 'x'})"


def _binary(row: str) -> str:
    name, _, values = row.partition(":")
    first, _, second = (values or "x,y").partition(",")
    return f"{name}(x={first}, y={second})"


BINARY = [row for row in XY.split() if not row.startswith("BatchMatMul:")]
EXPRESSIONS = [_unary(row, "x") for row in X.split()]
EXPRESSIONS += [_binary(row) for row in BINARY] + ["BatchMatMul(x=m, y=a)"]
EXPRESSIONS += [_unary(row, "features") for row in FEATURES.split()]
EXPRESSIONS += [
    "ResourceGather(resource=tall, indices=k, dtype=tall.dtype, batch_dims=0)",
    "ResourceGather(resource=t, indices=i[:, :2] * 0, dtype=t.dtype, batch_dims=1)",
    "ResourceGatherNd(resource=x, indices=at2[:2], dtype=x.dtype)",
]
EXPRESSIONS += [row.strip() for row in ROWS.strip().replace("\n", ";").split(";")]
#: Beginning of an expression → why its derivative is not compared.
NOT_DIFFERENTIATED = {
    "BlockLSTMV2": "upstream's gradient reads the gates in the order of BlockLSTM",
    "CholeskyGrad": "upstream has no derivative",
    "HSVToRGB": "upstream has no derivative",
    "MatrixSetDiagV2": "upstream aligns the derivative by the diagonals to the right",
    "QuantizeAndDequantizeV4Grad": "upstream's derivative takes too few arguments",
    "ResizeBilinearGrad": "upstream has no derivative",
    "FusedBatchNormGrad": "upstream's second derivative counts the statistics as arguments",
    "SparseSparse": "upstream has no derivative",
    "SparseSoftmaxCrossEntropyWithLogits": "upstream's kernel is not differentiated twice",
}


def _backprop_input(input: Any, filter: Any, out_backprop: Any, **settings: Any) -> Any:
    return tf.raw_ops.Conv2DBackpropInput(
        input_sizes=tf.shape(input), filter=filter, out_backprop=out_backprop, **settings
    )


def _backprop_filter(input: Any, filter: Any, out_backprop: Any, **settings: Any) -> Any:
    return tf.raw_ops.Conv2DBackpropFilter(
        input=input, filter_sizes=tf.shape(filter), out_backprop=out_backprop, **settings
    )


def _ctc_loss(inputs: Any, labels_values: Any, **settings: Any) -> Any:
    turned = tf.roll(inputs, -1, axis=2)  # the blank from the first to the last class
    found = tf.raw_ops.CTCLoss(inputs=turned, labels_values=labels_values - 1, **settings)
    return found[0], tf.roll(found[1], 1, axis=2)


#: Operations without a kernel for CPUs upstream, by others.
THEIRS = ModuleType("raw_ops")
vars(THEIRS).update(
    {name: getattr(tf.raw_ops, name) for name in dir(tf.raw_ops)}
    | {
        "CTCLossV2": _ctc_loss,
        "AccumulateNV2": lambda inputs, shape: tf.raw_ops.AddN(inputs=inputs),
        "Conv2DBackpropInputV2": _backprop_input,
        "Conv2DBackpropFilterV2": _backprop_filter,
        "ResourceGather": lambda resource, indices, dtype, batch_dims: tf.gather(
            resource, indices, batch_dims=batch_dims
        ),
        "ResourceGatherNd": lambda resource, indices, dtype: tf.gather_nd(resource, indices),
        "FFTND": lambda input, fft_length, axes: tf.raw_ops.FFT2D(input=input),
        "IFFTND": lambda input, fft_length, axes: tf.raw_ops.IFFT2D(input=input),
        "IRFFTND": lambda input, fft_length, axes: tf.raw_ops.IRFFT2D(
            input=input, fft_length=fft_length
        ),
        "RFFTND": lambda input, fft_length, axes: tf.raw_ops.RFFT2D(
            input=input, fft_length=fft_length
        ),
    }
    | {
        f"Segment{name}V2": getattr(tf.raw_ops, f"UnsortedSegment{name}")
        for name in ("Sum", "Prod", "Max", "Min")
    }
)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_values(expression: str) -> None:
    expressions.assert_equal(expression, THEIRS, frontend.raw_ops, "numpy")


@pytest.mark.full
@pytest.mark.parametrize("expression", EXPRESSIONS)
@pytest.mark.parametrize("backend", ["torch", "jax", "tensorflow"])
def test_values_on_other_backends(expression: str, backend: str) -> None:
    if _needs_wide(expression, backend):
        pytest.skip(
            "https://docs.jax.dev/en/latest/default_dtypes.html: 64 bits need jax_enable_x64"
        )
    expressions.assert_equal(expression, THEIRS, frontend.raw_ops, backend)


@pytest.mark.full
@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_gradients(expression: str, backend: str) -> None:
    if expression.startswith(tuple(NOT_DIFFERENTIATED)) or _needs_wide(expression, backend):
        return
    try:
        expressions.expected_gradients(expression, THEIRS)
    except (LookupError, NotImplementedError, ValueError, tf.errors.OpError):  # upstream has none
        return
    if expressions.is_differentiable(expression, THEIRS):
        expressions.assert_gradients(expression, THEIRS, frontend.raw_ops, backend)


def test_draws_are_those_of_the_public_functions(backend: str) -> None:
    key = on(backend, na.random.key(0, like=np.zeros(1)))
    image, classes = on(backend, expressions.INPUTS["image"]), on(backend, np.asarray([[1, 3]]))
    ratios, settings = [1.0, 1.4, 1.5, 1.0], (2, 4, True, 9)
    raw, unigrams = frontend.raw_ops, [1.0] * 9
    pairs = [
        (raw.FractionalMaxPool(image, ratios, key=key), frontend.nn.fractional_max_pool(image, ratios, key=key)),
        (raw.FractionalAvgPool(image, ratios, key=key), frontend.nn.fractional_avg_pool(image, ratios, key=key)),
        (raw.LogUniformCandidateSampler(classes, *settings, key=key), candidates.log_uniform_candidate_sampler(classes, *settings, key=key)),
        (raw.FixedUnigramCandidateSampler(classes, *settings, unigrams=unigrams, key=key), candidates.fixed_unigram_candidate_sampler(classes, *settings, unigrams=unigrams, key=key)),
    ]  # fmt: skip
    for ours, theirs in pairs:
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, backends.core(backend).to_numpy(other), backend)


def test_check_numerics_raises(backend: str) -> None:
    with pytest.raises(ArgumentError, match="weights: the tensor has NaN or infinite elements"):
        frontend.raw_ops.CheckNumerics(on(backend, expressions.INPUTS["e"]), "weights")


def _needs_wide(expression: str, backend: str) -> bool:
    """Whether JAX lacks the 64 bits of keys and counters."""
    return backend == "jax" and ("philox" in expression or "KeyCounter" in expression)


def _mean(x: Any) -> float:
    return float(np.mean(np.asarray(x)))


BOXES = {
    "image_size": np.asarray([60, 40, 3], "int32"),
    "bounding_boxes": np.asarray([[[0.2, 0.2, 0.8, 0.8]]], "float32"),
}
NORMAL: dict[str, Any] = {"shape": [4000], "dtype": tf.float32}
DRAWS: dict[str, tuple[dict[str, Any], float]] = {
    "Multinomial": ({"logits": np.zeros((1, 3), "float32"), "num_samples": 4000}, 1.0),
    "RandomShuffle": ({"value": np.arange(5.0, dtype="float32")}, 2.0),
    "RandomStandardNormal": (NORMAL, 0.0),
    "RandomUniform": (NORMAL, 0.5),
    "RandomUniformInt": (
        {"shape": [4000], "minval": np.asarray(2, "int32"), "maxval": np.asarray(5, "int32")}, 3.0,
    ),
    "TruncatedNormal": (NORMAL, 0.0),
    "ParameterizedTruncatedNormal": (
        {"shape": [2, 4000], "means": [0.0, 4.0], "stdevs": [1.0, 2.0], "minvals": [0.0, 2.0], "maxvals": [9.0, 6.0]},
        (np.sqrt(2 / np.pi) + 4) / 2,
    ),
    "RandomGamma": ({"shape": [4000], "alpha": np.asarray([2.0, 4.0], "float32")}, 3.0),
    "RandomPoissonV2": ({"shape": [4000], "rate": np.asarray([2.0, 4.0], "float32")}, 3.0),
    "SampleDistortedBoundingBox": (BOXES | {"area_range": [1.0, 1.0], "aspect_ratio_range": [0.6, 0.7]}, 0),
    "SampleDistortedBoundingBoxV2": (
        BOXES | {"min_object_covered": 1.0, "area_range": [1.0, 1.0], "aspect_ratio_range": [0.6, 0.7]}, 0,
    ),
    "StatelessParameterizedTruncatedNormal": (
        {"shape": [4000], "seed": [1, 2], "means": 0.0, "stddevs": 1.0, "minvals": 0.0, "maxvals": 9.0},
        np.sqrt(2 / np.pi),
    ),
    "UniformCandidateSampler": (
        {"true_classes": np.asarray([[1]]), "num_true": 1, "num_sampled": 4000, "unique": False, "range_max": 7},
        3.0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWS)
def test_draws_have_shape_dtype_and_mean_of_upstream(name: str) -> None:
    arguments, mean = DRAWS[name]
    arrays = {
        key: np.asarray(value, "float32") if key in ("means", "stdevs", "stddevs", "minvals", "maxvals") else value
        for key, value in arguments.items()
    }  # fmt: skip
    key = {} if name.startswith("Stateless") else {"key": na.random.key(0)}
    found = expressions.leaves(getattr(frontend.raw_ops, name)(**arrays, **key))[0]
    wanted = expressions.leaves(getattr(tf.raw_ops, name)(**arrays))[0].numpy()
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert _mean(found) == pytest.approx(mean, abs=0.1)


def test_prevented_gradient(backend: str) -> None:
    x = on(backend, np.asarray([1.0, 2.0], "float32"))
    prevent = frontend.raw_ops.PreventGradient
    with pytest.raises(na.errors.UnsupportedError, match="PreventGradient: the derivative is not"):
        na.grad(lambda x: na.sum(prevent(input=x, message="why")))(x)
    np.testing.assert_array_equal(np.asarray(prevent(input=x)), [1, 2])


def test_parts_that_are_replaced_are_within_the_array(backend: str) -> None:
    call, upstream = frontend.raw_ops.XlaDynamicUpdateSlice, function_of("XlaDynamicUpdateSlice")
    x = expressions.INPUTS["volume"]
    for start in ([0, 1, 2, 0, 0], [0, -3, 9, 1, 1]):
        operands = {"input": x, "update": x[:, :2, :2, :2] + 1, "indices": np.asarray(start)}
        found = call(**{name: on(backend, value) for name, value in operands.items()})
        np.testing.assert_array_equal(host(found), upstream(**operands))
    part = x[:, :2, :2, :2]
    start = on(backend, np.asarray([0, 9, 0, 0, 0]))

    def loss(x: Any, part: Any) -> Any:
        return na.sum(na.square(call(x, part, start)))

    of_whole, of_part = na.grad(loss, argnums=(0, 1))(on(backend, x), on(backend, part))
    np.testing.assert_allclose(host(of_part), 2 * part, rtol=1e-6)
    is_kept = np.ones_like(x)
    is_kept[:, 2:, :2, :2] = 0
    np.testing.assert_allclose(host(of_whole), 2 * x * is_kept, rtol=1e-6)
