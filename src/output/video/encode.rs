//! The choice of `--encode`.

/// How much an encoder works for a small film. The three films look about the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum Encode {
    /// The fastest: the largest film.
    Fast,
    /// As fast as a GPU renders, on 16 cores.
    #[default]
    Standard,
    /// The smallest film, in the longest time.
    Small,
}

impl Encode {
    /// All of them, the default first.
    pub(crate) const ALL: [Encode; 3] = [Encode::Standard, Encode::Fast, Encode::Small];

    /// The name in `--encode`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Encode::Fast => "fast",
            Encode::Standard => "standard",
            Encode::Small => "small",
        }
    }
}
