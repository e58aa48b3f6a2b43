//! Flags of `figure`.

use super::render::DeviceArgs;
use super::values::whole;
use crate::scene::limits::MAX_FRAMES;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug)]
pub struct FigureArgs {
    /// The particles, as in [particles]; a scene in .toml, whose frame 0 is drawn; or a figure, for --again.
    pub file: String,
    /// The figure: a picture, .pdf or .svg [default: the file's name with .png, in the working folder]
    #[arg(short, long, value_name = "FILE", help_heading = "Output")]
    pub output: Option<PathBuf>,
    /// What selects the color, a column or an expression: `particles.color_by`.
    #[arg(long, value_name = "VALUE", help_heading = "Figure")]
    pub color_by: Option<String>,
    /// Title of the legend, with the unit: `figure.label`.
    #[arg(long, value_name = "TEXT", help_heading = "Figure")]
    pub label: Option<String>,
    /// Light and ground, `journal`, `plain` or `dark`: `figure.style` [default: journal]
    #[arg(long, value_name = "STYLE", help_heading = "Figure")]
    pub style: Option<String>,
    /// Width in print: `figure.width` [default: 85 mm]
    #[arg(long, value_name = "LENGTH", help_heading = "Figure")]
    pub width: Option<String>,
    /// Time step of a series, whose name has %d or %0Nd, or of a file with several: `particles.first` [default: 0]
    #[arg(long, value_name = "N", value_parser = whole::<u32>(0, u64::from(MAX_FRAMES)), help_heading = "Figure")]
    pub step: Option<u32>,
    /// The direction from which the particles are seen, `iso`, `+x`, `-z` or AZIMUTH,ELEVATION: `figure.view` [default: iso]
    #[arg(long, value_name = "VIEW", allow_hyphen_values = true, help_heading = "Figure")]
    pub view: Option<String>,
    /// Change any other key of the scene: `figure.scale_bar=mm`, `particles.range=[0,1]`; may be given several times.
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Figure")]
    pub set: Vec<String>,
    /// Make a figure once more from the scene that it carries, with the data in its folder or in this one, and say whether it is the same to the
    /// byte; FILE is the figure, which stays.
    #[arg(long, help_heading = "Output", conflicts_with_all = ["output", "color_by", "label", "style", "width", "step", "view", "set", "print_scene"])]
    pub again: bool,
    /// Print the scene and exit: `polyfly SCENE` makes the same picture of it.
    #[arg(long, help_heading = "Output")]
    pub print_scene: bool,
    /// Replace an existing file.
    #[arg(long, help_heading = "Output")]
    pub overwrite: bool,
    /// Open the figure with the system's program for such files.
    #[arg(long, help_heading = "Output")]
    pub open: bool,
    #[command(flatten)]
    pub device: DeviceArgs,
}
