//! Post steps on a GPU: from a frame's sums to its picture, and from pictures to YUV planes.

use super::api::{Api, Context, DeviceMemory, Module, arguments};
use super::denoise::DenoiseLane;
use super::functions::kernels;
use super::modules::POST;
use super::pixels::{BLOCK, launch};
use crate::device::DeviceError;
use crate::film::post::PostPipeline;
use crate::film::post::glare::{Glare, GlareImage};
use crate::gpu_types::{PostParams, Scene as GpuScene};
use crate::kernels::develop::display;
use std::ops::Range;

kernels! {
    /// The kernels, which are the same for all sizes of pictures.
    struct Steps of POST, BLOCK.0 * BLOCK.1;
    resolve = c"polyfly_resolve",
    downsample = c"polyfly_downsample",
    glare = c"polyfly_glare",
    upsample = c"polyfly_upsample",
    finish = c"polyfly_finish",
    convert = c"polyfly_convert",
}

/// The kernels, and the table of the AgX tone curve.
pub struct PostKernels<A: Api> {
    steps: Steps<A>,
    display: A::Memory,
}

/// The sizes of the pyramid's images, from the finest.
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
    /// The frame's light, in planes of red, green and blue.
    pub image: A::Memory,
    pyramid: Vec<(A::Memory, (u32, u32))>,
    // Two images between passes of glare, and the sum of its rays; none without glare.
    rays: Vec<A::Memory>,
    /// The denoiser's, if it is among the steps.
    pub denoise: Option<DenoiseLane<A>>,
}

impl<A: Api> PostLane<A> {
    /// Allocates memory for pictures of a size, what the steps need, and this many bytes of sums. Each frame is made of `frames`.
    pub fn new(
        size: (u32, u32),
        (post, frames): (&PostPipeline, usize),
        sums: usize,
        context: &A::Context,
    ) -> Result<PostLane<A>, DeviceError> {
        let denoise = post.is_guided().then(|| DenoiseLane::new(size, frames, sums, context)).transpose()?;
        let memory = |size| Ok((context.memory(bytes_of(size))?, size));
        let pyramid =
            pyramid(size, post.pyramid_levels(size.1)).map(memory).collect::<Result<Vec<_>, DeviceError>>()?;
        let level = pyramid.get(Glare::level(size.1) - 1).filter(|_| post.may_have_glare());
        let rays = level.map(|(_, size)| (0..3).map(|_| context.memory(bytes_of(*size))).collect());
        let rays = rays.transpose()?.unwrap_or_default();
        Ok(PostLane { sums: context.memory(sums)?, image: context.memory(bytes_of(size))?, pyramid, rays, denoise })
    }
}

impl<A: Api> PostKernels<A> {
    pub fn load(context: &A::Context) -> Result<PostKernels<A>, DeviceError> {
        Ok(PostKernels { steps: Steps::load(context)?, display: context.upload(display())? })
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
        launch::<A>(
            stream,
            self.steps.resolve,
            (size.0, count),
            arguments![*params, from, counts, samples, size.0, size.1, rows.start, count, to],
        )
    }

    /// Converts the image to the picture: glare, bloom, lens, tone curve, eight bits.
    #[expect(clippy::too_many_arguments, reason = "a scene and two images, all of other types")]
    pub fn finish(
        &self,
        stream: &A::Stream,
        scene: &GpuScene,
        (params, glare): (&PostParams, Option<&Glare>),
        frame: u32,
        lane: &PostLane<A>,
        rgba: &A::Memory,
    ) -> Result<(), DeviceError> {
        let size = (scene.constants.width.cast_unsigned(), scene.constants.height.cast_unsigned());
        let image = lane.image.address(0);
        let levels = lane.pyramid.len().min(params.bloom_levels.unsigned_abs() as usize);
        let pyramid = &lane.pyramid[..levels];
        let glow = pyramid.first().map_or(0, |(memory, _)| memory.address(0));
        if let Some(glare) = glare {
            self.glare(stream, size, glare, lane)?;
        }
        self.bloom(stream, (&lane.image, size), pyramid)?;
        let (display, rgba) = (self.display.address(0), rgba.address(0));
        launch::<A>(stream, self.steps.finish, size, arguments![*scene, *params, frame, display, image, glow, rgba])
    }

    // Goes down the pyramid and up again. Each level becomes the mean of itself and all coarser ones.
    fn bloom(
        &self,
        stream: &A::Stream,
        (image, size): (&A::Memory, (u32, u32)),
        pyramid: &[(A::Memory, (u32, u32))],
    ) -> Result<(), DeviceError> {
        self.go_down(stream, (image, size), pyramid)?;
        let mut count = 1.0f32;
        for pair in pyramid.windows(2).rev() {
            let [(fine, size), (coarse, _)] = pair else { continue };
            let shares = (1.0 / (count + 1.0), count / (count + 1.0));
            self.go_up(stream, coarse, (fine, *size), shares)?;
            count += 1.0;
        }
        Ok(())
    }

    // Spreads a level along all rays, and mixes the result into the image.
    fn glare(
        &self,
        stream: &A::Stream,
        size: (u32, u32),
        glare: &Glare,
        lane: &PostLane<A>,
    ) -> Result<(), DeviceError> {
        let pyramid = lane.pyramid.get(..Glare::level(size.1)).unwrap_or_default();
        let ([finer @ .., (level, level_size)], [first, second, sum]) = (pyramid, &lane.rays[..]) else {
            return Err(DeviceError::Failed("glare has no memory".into()));
        };
        self.go_down(stream, (&lane.image, size), pyramid)?;
        let address = |image: GlareImage| [level, first, second, sum][image as usize].address(0);
        for pass in glare.passes(size.1) {
            let (from, to) = (address(pass.from), address(pass.to));
            launch::<A>(
                stream,
                self.steps.glare,
                *level_size,
                arguments![pass.taps, from, level_size.0, level_size.1, to],
            )?;
        }
        let mut coarse = sum;
        for (fine, size) in finer.iter().rev() {
            self.go_up(stream, coarse, (fine, *size), (0.0, 1.0))?;
            coarse = fine;
        }
        self.go_up(stream, coarse, (&lane.image, size), (1.0 - glare.share(), glare.share()))
    }

    // Makes levels of the pyramid from the image.
    fn go_down(
        &self,
        stream: &A::Stream,
        (image, size): (&A::Memory, (u32, u32)),
        pyramid: &[(A::Memory, (u32, u32))],
    ) -> Result<(), DeviceError> {
        let (mut from, mut from_size) = (image.address(0), size);
        for (memory, size) in pyramid {
            let to = memory.address(0);
            launch::<A>(stream, self.steps.downsample, *size, arguments![from, from_size.0, from_size.1, to])?;
            (from, from_size) = (to, *size);
        }
        Ok(())
    }

    // A finer image keeps a share of itself and takes one of a coarser image.
    fn go_up(
        &self,
        stream: &A::Stream,
        coarse: &A::Memory,
        (fine, size): (&A::Memory, (u32, u32)),
        (own, rest): (f32, f32),
    ) -> Result<(), DeviceError> {
        let (coarse, fine) = (coarse.address(0), fine.address(0));
        launch::<A>(stream, self.steps.upsample, size, arguments![coarse, fine, size.0, size.1, own, rest])
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
        let blocks = (width.div_ceil(2), rows.div_ceil(2));
        launch::<A>(stream, self.steps.convert, blocks, arguments![rgba, width, rows, luma, blue, red])
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
