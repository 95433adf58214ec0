//! The compatible lists.

mod biscuit;
mod keeping;
mod tenuo;

use super::tenuo::TenuoList;
use crate::{
    ListVersion,
    testing::{T0, at},
};

fn warrant(number: u8) -> [u8; 16] {
    [number; 16]
}

fn tenuo_list(version: u64, warrants: &[u8], seconds: u64) -> TenuoList {
    TenuoList {
        version: ListVersion::try_from(version).unwrap(),
        issued_at: at(T0 + seconds),
        warrants: warrants.iter().map(|number| warrant(*number)).collect(),
    }
}
