//! The program's exit codes and what they mean; the numbers from 64 to 75 are those of sysexits.h.

// Declares the exit codes: number, the word in `--help`, what the code means, what to do.
macro_rules! exit_codes {
    ($($name:ident = $code:literal: $brief:literal, $meaning:literal, $remedy:literal;)*) => {
        /// An exit code of the program.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Exit { $(#[doc = $meaning] $name = $code,)* }

        impl Exit {
            pub const ALL: &[Exit] = &[$(Exit::$name),*];

            // The word in `--help`, what the code means, what to do.
            const fn words(self) -> [&'static str; 3] {
                match self { $(Exit::$name => [$brief, $meaning, $remedy],)* }
            }
        }
    };
}

exit_codes! {
    Done = 0: "done", "All is done.",
        "Nothing to do.";
    Different = 1: "different (`compare`)", "`polyfly compare` found a difference above `--max-difference`, or frames of one side alone.",
        "The table says which frames differ and by how much; `-o diff.png` shows where.";
    Usage = 64: "usage", "The command line is wrong. Nothing was rendered.",
        "Read the message: it names the flag and what was expected. `polyfly explain FLAG` explains a flag. A retry does not help.";
    BadInput = 65: "bad scene, or a folder of another scene",
        "The scene or one of its files has a fault, or the folder holds frames of another scene. Existing frames are unchanged.",
        "Fix the place named in the message; `polyfly check SCENE` lists all faults. For a folder of another scene give another folder, \
         or `--overwrite`. A retry does not help.";
    Unavailable = 69: "device or memory unavailable",
        "A device, memory, threads or a program is not available on this machine.",
        "`polyfly doctor` lists the devices. Without a GPU leave out `--gpu`; with too little memory give a smaller `--size` or fewer \
         `--threads`. A queue may try another machine.";
    DevicesDisagree = 70: "devices disagree, or frames are wrong",
        "Devices of this machine made different bytes of one scene (`verify`, `doctor`), or frames are not those of their scene (`verify`).",
        "Wrong frames: the message has their places, and who made them; `--overwrite` renders them again. Devices: the hardware, its driver or the program has a fault. Render with `--cpu`, and report the output of `polyfly doctor`.";
    InputOutput = 74: "input or output",
        "A file could not be read or written, or the encoder failed. Complete frames stay.",
        "Check the path, the free space and the message of ffmpeg. Then run the same command with `--resume`: it renders only what is missing.";
    TryAgain = 75: "stopped or incomplete, try again",
        "The run was stopped by a signal other than Ctrl-C, or frames are missing.",
        "Run the same command with `--resume`. A queue may simply try again.";
    Interrupted = 130: "Ctrl-C", "Ctrl-C stopped the run. Complete frames stay.",
        "Run the same command with `--resume` to go on: the last lines on stderr show the command.";
}

impl Exit {
    pub fn of(number: &str) -> Option<Exit> {
        Exit::ALL.iter().copied().find(|code| code.to_string() == number)
    }

    /// What the code means, in a few words.
    pub fn brief(self) -> &'static str {
        self.words()[0]
    }

    /// What the code means and what to do.
    pub fn explanation(self) -> String {
        let [_, meaning, remedy] = self.words();
        format!("{meaning}\n\n{remedy}")
    }

    /// All codes in one line of `--help`.
    pub fn summary() -> String {
        let codes: Vec<String> = Exit::ALL.iter().map(|code| format!("{code} {}", code.brief())).collect();
        format!("Exit codes: {}.", codes.join("; "))
    }
}

impl std::fmt::Display for Exit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        (*self as u8).fmt(f)
    }
}
