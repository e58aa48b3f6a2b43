//! Post steps on a GPU: from a frame's sums to its picture, and from pictures to YUV planes.
#![expect(unsafe_code, reason = "launches kernels, whose arguments the compiler cannot check")]

use super::api::{Api, Arguments, Context, DeviceMemory, Module, Stream};
use super::modules::POST;
use crate::device::DeviceError;
use crate::gpu_types::{PostParams, Scene as GpuScene};
use crate::kernels::develop::display;
use std::ops::Range;

// Threads of a block in x and y.
const BLOCK: (u32, u32) = (32, 8);

/// The kernels, which are the same for all sizes of pictures.
pub struct PostKernels<A: Api> {
    resolve: A::Function,
    downsample: A::Function,
    upsample: A::Function,
    finish: A::Function,
    convert: A::Function,
    // The table of the AgX tone curve.
    display: A::Memory,
    _module: A::Module,
}

/// The sizes of the bloom pyramid's images, from the finest.
fn pyramid((width, height): (u32, u32), levels: usize) -> impl Iterator<Item = (u32, u32)> {
    let half = |&(width, height): &(u32, u32)| {
        let is_last = width == 1 && height == 1;
        (!is_last).then(|| (width.div_ceil(2), height.div_ceil(2)))
    };
    let first = (width.div_ceil(2), height.div_ceil(2));
    std::iter::successors(Some(first), half).take(levels)
}

fn bytes_of((width, height): (u32, u32)) -> usize {
    3 * size_of::<f32>() * width as usize * height as usize
}

/// Memory for the post steps of one stream.
pub struct PostLane<A: Api> {
    /// Sums of a band. If sample counts differ between pixels, they follow the sums.
    pub sums: A::Memory,
    // The frame's light and the bloom pyramid, in planes of red, green and blue.
    image: A::Memory,
    pyramid: Vec<(A::Memory, (u32, u32))>,
}

impl<A: Api> PostLane<A> {
    /// Allocates memory for pictures of a size, at most so many levels of bloom, and this many bytes of sums.
    pub fn new(size: (u32, u32), levels: usize, sums: usize, context: &A::Context) -> Result<PostLane<A>, DeviceError> {
        let memory = |size| Ok((context.memory(bytes_of(size))?, size));
        let pyramid = pyramid(size, levels).map(memory).collect::<Result<Vec<_>, DeviceError>>()?;
        Ok(PostLane { sums: context.memory(sums)?, image: context.memory(bytes_of(size))?, pyramid })
    }
}

impl<A: Api> PostKernels<A> {
    pub fn load(context: &A::Context) -> Result<PostKernels<A>, DeviceError> {
        let module = context.load(&POST.text()?)?;
        let function = |name| module.function(name, BLOCK.0 * BLOCK.1);
        Ok(PostKernels {
            resolve: function(c"polyfly_resolve")?,
            downsample: function(c"polyfly_downsample")?,
            upsample: function(c"polyfly_upsample")?,
            finish: function(c"polyfly_finish")?,
            convert: function(c"polyfly_convert")?,
            display: context.upload(display())?,
            _module: module,
        })
    }

    // Launches one thread for each pixel of an image of this size.
    fn launch(
        &self,
        stream: &A::Stream,
        kernel: A::Function,
        (width, height): (u32, u32),
        mut arguments: Arguments,
    ) -> Result<(), DeviceError> {
        let blocks = (width.div_ceil(BLOCK.0), height.div_ceil(BLOCK.1));
        // SAFETY: the callers below give the arguments of kernels/entry/post.cu in their order; the memory lives until the
        // task has been waited for.
        unsafe { stream.launch(kernel, blocks, BLOCK, &mut arguments) }
    }

    /// Converts the sums of some rows to light in the image. `counts_at` is the offset of the pixels' sample counts
    /// after the sums; without it, each pixel has `samples`.
    #[expect(clippy::too_many_arguments, reason = "the numbers of a kernel")]
    pub fn resolve(
        &self,
        stream: &A::Stream,
        lane: &PostLane<A>,
        params: &PostParams,
        size: (u32, u32),
        rows: Range<u32>,
        (counts_at, samples): (Option<usize>, i32),
    ) -> Result<(), DeviceError> {
        let (from, to, count) = (lane.sums.address(0), lane.image.address(0), rows.end - rows.start);
        let counts = counts_at.map_or(0, |at| lane.sums.address(at));
        let arguments = Arguments::default().with(params).with(&from).with(&counts).with(&samples);
        let arguments = arguments.with(&size.0).with(&size.1).with(&rows.start).with(&count).with(&to);
        self.launch(stream, self.resolve, (size.0, count), arguments)
    }

    /// Converts the image to the picture: bloom, lens, tone curve, eight bits.
    #[expect(clippy::too_many_arguments, reason = "a scene and two images, all of other types")]
    pub fn finish(
        &self,
        stream: &A::Stream,
        scene: &GpuScene,
        params: &PostParams,
        frame: u32,
        lane: &PostLane<A>,
        rgba: &A::Memory,
    ) -> Result<(), DeviceError> {
        let size = (scene.constants.width.cast_unsigned(), scene.constants.height.cast_unsigned());
        let image = lane.image.address(0);
        let levels = lane.pyramid.len().min(params.bloom_levels.unsigned_abs() as usize);
        let pyramid = &lane.pyramid[..levels];
        let glow = pyramid.first().map_or(0, |(memory, _)| memory.address(0));
        self.bloom(stream, (&lane.image, size), pyramid)?;
        let (display, rgba) = (self.display.address(0), rgba.address(0));
        let arguments = Arguments::default().with(scene).with(params).with(&frame).with(&display);
        self.launch(stream, self.finish, size, arguments.with(&image).with(&glow).with(&rgba))
    }

    // Goes down the pyramid and up again. Each level becomes the mean of itself and all coarser ones.
    fn bloom(
        &self,
        stream: &A::Stream,
        (image, size): (&A::Memory, (u32, u32)),
        pyramid: &[(A::Memory, (u32, u32))],
    ) -> Result<(), DeviceError> {
        let (mut from, mut from_size) = (image.address(0), size);
        for (memory, size) in pyramid {
            let to = memory.address(0);
            let arguments = Arguments::default().with(&from).with(&from_size.0).with(&from_size.1).with(&to);
            self.launch(stream, self.downsample, *size, arguments)?;
            (from, from_size) = (to, *size);
        }
        let mut count = 1.0f32;
        for pair in pyramid.windows(2).rev() {
            let [(fine, size), (coarse, _)] = pair else { continue };
            let (own, rest) = (1.0 / (count + 1.0), count / (count + 1.0));
            let (fine, coarse) = (fine.address(0), coarse.address(0));
            let arguments = Arguments::default().with(&coarse).with(&fine).with(&size.0).with(&size.1);
            self.launch(stream, self.upsample, *size, arguments.with(&own).with(&rest))?;
            count += 1.0;
        }
        Ok(())
    }

    /// Converts some rows of a picture to YUV planes.
    pub fn convert(
        &self,
        stream: &A::Stream,
        rgba: &A::Memory,
        (width, rows): (u32, u32),
        to: &A::Memory,
    ) -> Result<(), DeviceError> {
        let [luma, blue, red] = Planes::of(width, rows).parts().map(|part| to.address(part.start));
        let rgba = rgba.address(0);
        let arguments = Arguments::default().with(&rgba).with(&width).with(&rows);
        let blocks = (width.div_ceil(2), rows.div_ceil(2));
        self.launch(stream, self.convert, blocks, arguments.with(&luma).with(&blue).with(&red))
    }
}

/// The planes of a 4:2:0 picture with even sides.
#[derive(Clone, Copy)]
pub struct Planes {
    /// Width in pixels, even.
    pub wide: usize,
    tall: usize,
}

impl Planes {
    pub fn of(width: u32, height: u32) -> Planes {
        Planes { wide: width.next_multiple_of(2) as usize, tall: height.next_multiple_of(2) as usize }
    }
    /// The byte ranges of Y, U and V, one after the other.
    pub fn parts(self) -> [Range<usize>; 3] {
        let (luma, chroma) = (self.wide * self.tall, self.wide * self.tall / 4);
        [0..luma, luma..luma + chroma, luma + chroma..luma + 2 * chroma]
    }
    pub fn bytes(self) -> usize {
        self.parts()[2].end
    }
}
