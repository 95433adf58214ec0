//! Bodies and deltas (protocol R1, R6).

use super::*;

#[test]
fn r6_a_body_that_does_not_hash_to_its_name_is_refused() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let list = first(&signer, [1]);
    let head = list.head_bytes().unwrap();
    let mut bytes = list.body_bytes().to_vec();
    *bytes.last_mut().unwrap() ^= 1;
    assert_eq!(code(keeper.accept_whole(&head, &bytes, now(0))), "list_not_its_name");
    assert_eq!(code(keeper.accept_whole(&head, b"", now(0))), "list_not_its_name");
}

#[test]
fn r1_a_delta_leads_from_the_held_list_to_the_new_one() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let one = first(&signer, 0..50);
    offer(&mut keeper, &one, now(0)).unwrap();
    let three = next(&next(&one, &signer, [60], 1), &signer, [61], 2);
    let examined = keeper.examine(&three.head_bytes().unwrap(), now(2)).unwrap();
    let Step::Delta { name, from, .. } = *examined.step() else { panic!("no delta was planned") };
    assert_eq!(from, one.version());
    let delta = three.deltas().find(|(offered, _)| **offered == name).unwrap().1;
    assert!(delta.len() < 150);
    keeper.accept(&examined, Content::Delta(delta), now(2)).unwrap();
    assert_eq!(keeper.held().unwrap().body.name(), three.body().name());
}

#[test]
fn r6_a_delta_on_another_base_is_refused_and_the_body_still_does() {
    let signer = key(1);
    let mut keeper = keeper(&signer);
    let one = first(&signer, 0..50);
    offer(&mut keeper, &one, now(0)).unwrap();
    let three = next(&next(&one, &signer, [60], 1), &signer, [61], 2);
    let examined = keeper.examine(&three.head_bytes().unwrap(), now(2)).unwrap();
    let from_two = three.deltas().next().unwrap().1;
    let refused = keeper.accept(&examined, Content::Delta(from_two), now(2)).unwrap_err();
    assert_eq!((refused.code(), refused.concerns_content()), ("list_delta_base", true));
    let bent = [&from_two[..], b"x"].concat();
    assert_eq!(code(keeper.accept(&examined, Content::Delta(&bent), now(2))), "list_not_its_name");
    assert_eq!(code(keeper.accept(&examined, Content::Body(three.body_bytes()), now(2))), "accepted");
}
