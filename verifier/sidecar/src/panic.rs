//! A panic is a refusal, and the process lives on.

use std::{
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
};

/// A panic in the future that was waited for. What it panicked with stays in the panic hook's own output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Waits for a future, whatever happens in it.
pub(crate) async fn caught<T>(future: impl Future<Output = T>) -> Result<T, Panicked> {
    let mut future = pin!(future);
    // The future is dropped, never polled again, after a panic: nothing half changed is seen.
    poll_fn(|cx| match catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(cx))) {
        Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
        Ok(Poll::Pending) => Poll::Pending,
        Err(_) => Poll::Ready(Err(Panicked)),
    })
    .await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_error_and_the_caller_lives_on() {
        assert_eq!(caught(async { 7 }).await, Ok(7));
        let panics = async {
            tokio::task::yield_now().await;
            panic!("in a test");
        };
        assert_eq!(caught::<()>(panics).await, Err(Panicked));
    }
}
