//! A panic is a refusal, and the process lives on.

use std::{
    future::{Future, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::Pin,
    task::Poll,
};

/// A panic in the future that was waited for. What it panicked with stays in the panic hook's own output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Panicked;

/// Waits for a future, whatever happens in it. It is pinned already: one that is handed over by value would have its place
/// twice, here and where it is pinned, and the futures of requests are large.
pub(crate) async fn caught<T>(mut future: Pin<&mut impl Future<Output = T>>) -> Result<T, Panicked> {
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
    use std::pin::pin;

    use super::*;

    #[tokio::test]
    async fn a_panic_is_an_error_and_the_caller_lives_on() {
        assert_eq!(caught(pin!(async { 7 })).await, Ok(7));
        let panics = async {
            tokio::task::yield_now().await;
            panic!("in a test");
        };
        assert_eq!(caught::<()>(pin!(panics)).await, Err(Panicked));
    }
}
