//! The studio's end. A run that its page has started is stopped first, so that no run goes on unseen.

use super::batch::Batch;
use crate::command::stop;
use crate::report::remark;
use crate::threads;

/// Ends the program at a signal. The first one stops the run that is going on after its frames in flight; a second one stops it at once.
#[cfg(unix)]
pub fn end_on_signals(batch: Batch) -> std::io::Result<()> {
    use signal_hook::consts::SIGINT;
    // The thread first: signals that are taken, and that nobody hears, could not end the program.
    let (give, taken) = crossbeam_channel::bounded::<signal_hook::iterator::Signals>(1);
    let listen = move || {
        let Ok(mut signals) = taken.recv() else { return };
        let mut first = None;
        for signal in signals.forever() {
            let is_first = first.is_none();
            let code = *first.get_or_insert(if signal == SIGINT { 130 } else { 75 });
            if !batch.close() {
                std::process::exit(code);
            }
            if is_first {
                remark(
                    "stopping the run that the page has started, after its frames in flight; once more stops it at once",
                );
                let batch = batch.clone();
                let wait = move || {
                    let words = batch.wait();
                    // The run says itself how to go on.
                    words.lines().for_each(|line| remark(line.strip_prefix("polyfly: ").unwrap_or(line)));
                    std::process::exit(code);
                };
                threads::spawn("wait", wait).map(drop).unwrap_or_else(|_| std::process::exit(code));
            }
        }
    };
    threads::spawn("signals", listen)?;
    let _ = give.send(stop::signals()?);
    stop::exit_now();
    Ok(())
}
