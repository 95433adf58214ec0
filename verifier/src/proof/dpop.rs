//! DPoP proofs (protocol P4).
