//! Setters for builder-style options: `Options::new().threads(4)`.

/// Methods that return the value with some fields changed.
macro_rules! setters {
    ($type:ident { $($(#[$doc:meta])* $name:ident($($arg:ident: $kind:ty)?) => { $($field:ident: $value:expr),* })* }) => {
        impl $type {
            $($(#[$doc])*
            #[must_use]
            pub fn $name(self, $($arg: $kind)?) -> $type {
                $type { $($field: $value,)* ..self }
            })*
        }
    };
}
pub(crate) use setters;
