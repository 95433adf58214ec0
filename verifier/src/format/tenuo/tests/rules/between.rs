//! What a warrant can have wrong under its parent.

use super::judged;
use crate::format::tenuo::tests::forge::{
    NOW, Sketch, array, cbor, constraint, constraints, exact, extensions, issuer_root, keys, map, most,
    pattern, root, texts, tools, unsigned, wildcard,
};

fn granting(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    tools(
        &entries
            .iter()
            .map(|(tool, path)| (*tool, constraints(&[("path", path.clone())])))
            .collect::<Vec<_>>(),
    )
}

#[test]
fn c2_a_chain_of_four_that_narrows_is_accepted() {
    let first = root();
    let second = Sketch { max_depth: 4, ..first.child(3) };
    let third = second.child(4).granting(granting(&[("read", pattern("/data/*"))]));
    let fourth = third.child(5).granting(granting(&[("read", exact("/data/a"))]));
    assert_eq!(judged(&[&first, &second, &third, &fourth]), "accepted");
}

#[test]
fn c2_i1_the_issuer_is_the_parents_holder() {
    let parent = root();
    assert_eq!(judged(&[&parent, &Sketch { signer: 9, ..parent.child(3) }]), "tenuo_wrong_issuer");
    assert_eq!(judged(&[&parent, &Sketch { issuer: Some(9), ..parent.child(3) }]), "tenuo_wrong_issuer");
    let forged = Sketch { signer: 9, issuer: Some(2), ..parent.child(3) };
    assert_eq!(judged(&[&parent, &forged]), "tenuo_signature_invalid");
}

#[test]
fn c2_i2_depth_counts_up_and_ends() {
    let parent = root();
    let child = parent.child(3);
    assert_eq!(judged(&[&parent, &Sketch { depth: 2, ..child.clone() }]), "tenuo_wrong_depth");
    assert_eq!(judged(&[&parent, &Sketch { max_depth: 6, ..child.clone() }]), "tenuo_depth_raised");
    assert_eq!(judged(&[&parent, &Sketch { max_depth: 0, ..child.clone() }]), "tenuo_depth_exceeded");
    let terminal = Sketch { max_depth: 1, ..child };
    assert_eq!(judged(&[&parent, &terminal]), "accepted");
    assert_eq!(judged(&[&parent, &terminal, &terminal.child(4)]), "tenuo_depth_exceeded");
}

#[test]
fn c2_i3_a_child_lives_within_its_parent() {
    let parent = root();
    let child = parent.child(3);
    assert_eq!(
        judged(&[&parent, &Sketch { expires_at: NOW + 1501, ..child.clone() }]),
        "tenuo_outlives_parent"
    );
    assert_eq!(judged(&[&parent, &Sketch { issued_at: NOW - 301, ..child }]), "tenuo_older_than_parent");
    let over = Sketch { expires_at: NOW, ..root() };
    assert_eq!(judged(&[&over, &over.child(3)]), "tenuo_expired");
}

#[test]
fn c2_i5_a_child_hangs_from_its_parents_bytes() {
    let parent = root();
    let child = parent.child(3);
    assert_eq!(judged(&[&parent, &Sketch { parent_hash: None, ..child.clone() }]), "tenuo_wrong_parent");
    assert_eq!(
        judged(&[&parent, &Sketch { parent_hash: Some([0; 32]), ..child.clone() }]),
        "tenuo_wrong_parent"
    );
    let twin = Sketch { max_depth: 4, ..root() };
    assert_eq!(judged(&[&twin, &child]), "tenuo_wrong_parent");
}

#[test]
fn c2_an_id_stands_once_in_a_stack() {
    let parent = root();
    assert_eq!(judged(&[&parent, &Sketch { id: [1; 16], ..parent.child(3) }]), "tenuo_duplicate_id");
}

#[test]
fn c2_a_session_goes_through_the_whole_chain() {
    let of = |id: &'static [u8]| extensions(&[("tenuo.session_id", id)]);
    let parent = root().with(10, of(b"A"));
    assert_eq!(judged(&[&parent, &parent.child(3)]), "accepted");
    assert_eq!(judged(&[&parent, &parent.child(3).with(10, of(b"B"))]), "tenuo_other_session");
    assert_eq!(judged(&[&parent, &parent.child(3).without(10)]), "tenuo_other_session");
    assert_eq!(judged(&[&root(), &root().child(3).with(10, of(b"A"))]), "tenuo_other_session");
}

#[test]
fn c6_only_the_first_warrant_names_a_source() {
    let child = root().child(3).with(10, extensions(&[("pact.source", b"partner.example")]));
    assert_eq!(judged(&[&root(), &child]), "tenuo_misplaced_source");
}

#[test]
fn c2_g1b_clearance_that_is_absent_is_none() {
    let cleared = |sketch: Sketch, level| sketch.with(17, unsigned(level));
    assert_eq!(judged(&[&root(), &cleared(root().child(3), 1)]), "tenuo_clearance_raised");
    assert_eq!(judged(&[&root(), &cleared(root().child(3), 0)]), "accepted");
    let parent = cleared(root(), 20);
    assert_eq!(judged(&[&parent, &cleared(parent.child(3), 21)]), "tenuo_clearance_raised");
    assert_eq!(judged(&[&parent, &cleared(parent.child(3), 20)]), "accepted");
    let issuer = issuer_root();
    assert_eq!(judged(&[&issuer, &cleared(issuer.child(3), 1)]), "tenuo_clearance_raised");
}

#[test]
fn c2_g12b_approvals_are_kept_by_every_descendant() {
    let parent = root().with(15, keys(&[7, 8])).with(16, unsigned(1));
    let child = parent.child(3);
    assert_eq!(judged(&[&parent, &child]), "accepted");
    assert_eq!(judged(&[&parent, &child.clone().without(15).without(16)]), "tenuo_approvals_dropped");
    assert_eq!(judged(&[&parent, &child.clone().with(15, keys(&[7]))]), "tenuo_approvals_dropped");
    let added = child.clone().with(15, keys(&[7, 8, 9]));
    assert_eq!(
        judged(&[&parent, &added]),
        "tenuo_approvals_dropped",
        "one more approver without one more approval"
    );
    assert_eq!(judged(&[&parent, &added.with(16, unsigned(2))]), "accepted");
    let gated = root().with(10, extensions(&[("tenuo.approval_gates", &[0xa0])]));
    assert_eq!(judged(&[&gated, &gated.child(3).without(10)]), "tenuo_approvals_dropped");
}

#[test]
fn c2_i4_tools_arguments_and_constraints_only_narrow() {
    let parent = root().granting(granting(&[("read", pattern("/data/*"))]));
    let child = |tools| parent.child(3).granting(tools);
    assert_eq!(judged(&[&parent, &child(granting(&[("write", wildcard())]))]), "tenuo_tool_added");
    assert_eq!(judged(&[&parent, &child(granting(&[("*", wildcard())]))]), "tenuo_tool_added");
    assert_eq!(judged(&[&parent, &child(granting(&[("read", wildcard())]))]), "tenuo_constraint_widened");
    assert_eq!(
        judged(&[&parent, &child(granting(&[("read", exact("/etc/passwd"))]))]),
        "tenuo_constraint_widened"
    );
    let read = |arguments: &[(&str, Vec<u8>)]| child(tools(&[("read", constraints(arguments))]));
    assert_eq!(judged(&[&parent, &read(&[])]), "tenuo_arguments_changed");
    let added = read(&[("mode", wildcard()), ("path", exact("/data/a"))]);
    assert_eq!(judged(&[&parent, &added]), "tenuo_arguments_changed");
    assert_eq!(judged(&[&parent, &read(&[("mode", wildcard())])]), "tenuo_arguments_changed");
    let open = root().granting(tools(&[("read", constraints(&[]))]));
    assert_eq!(judged(&[&open, &open.child(3).granting(granting(&[("read", most(5.0))]))]), "accepted");
}

#[test]
fn c2_unnamed_arguments_are_not_let_in_by_a_child() {
    let opening =
        |path| map(&[("constraints", map(&[("path", path)])), ("allow_unknown", cbor(|w| w.bool(true)))]);
    let open = tools(&[("read", opening(wildcard()))]);
    assert_eq!(
        judged(&[&root(), &root().child(3).granting(open.clone())]),
        "tenuo_unknown_arguments_admitted"
    );
    let parent = root().granting(open);
    assert_eq!(judged(&[&parent, &parent.child(3).granting(root().tools)]), "accepted");
}

#[test]
fn c2_g28_an_empty_set_of_tools_derives_only_itself() {
    let parent = root();
    let empty = parent.child(3).granting(tools(&[]));
    assert_eq!(judged(&[&parent, &empty]), "accepted");
    assert_eq!(judged(&[&parent, &empty, &empty.child(4)]), "accepted");
    let back = empty.child(4).granting(granting(&[("read", wildcard())]));
    assert_eq!(judged(&[&parent, &empty, &back]), "tenuo_tool_added");
}

#[test]
fn c2_g4b_a_tool_that_was_restricted_does_not_come_back_through_a_star() {
    let parent = root().granting(granting(&[("*", wildcard()), ("delete", exact("/tmp/x"))]));
    let middle = parent.child(3).granting(granting(&[("*", wildcard())]));
    assert_eq!(judged(&[&parent, &middle]), "accepted");
    let back = middle.child(4).granting(granting(&[("delete", wildcard())]));
    assert_eq!(judged(&[&parent, &middle, &back]), "tenuo_tool_reopened");
    let fresh = middle.child(4).granting(granting(&[("list", wildcard())]));
    assert_eq!(judged(&[&parent, &middle, &fresh]), "accepted");
}

#[test]
fn c2_an_execution_warrant_makes_no_issuer() {
    let parent = root();
    let issuer = Sketch { kind: 1, tools: tools(&[]), ..parent.child(3) }.with(11, texts(&["read"]));
    assert_eq!(judged(&[&parent, &issuer]), "tenuo_issuer_from_execution");
}

fn issued(parent: &Sketch, holder: u8) -> Sketch {
    Sketch { kind: 0, tools: root().tools, ..parent.child(holder) }.without(11).without(13).without(14)
}

#[test]
fn c2_an_issuer_issues_what_it_may_and_not_to_itself() {
    let issuer = issuer_root();
    assert_eq!(judged(&[&issuer, &issued(&issuer, 3)]), "accepted");
    assert_eq!(judged(&[&issuer, &issued(&issuer, 2)]), "tenuo_self_issued");
    assert_eq!(judged(&[&issuer, &issued(&issuer, 1)]), "tenuo_self_issued");
    let other = issued(&issuer, 3).granting(granting(&[("write", wildcard())]));
    assert_eq!(judged(&[&issuer, &other]), "tenuo_not_issuable");
    let wider = issuer.child(3).with(11, texts(&["read", "write"]));
    assert_eq!(judged(&[&issuer, &wider]), "tenuo_not_issuable");
}

#[test]
fn c2_g2_bounds_are_inherited_by_every_descendant() {
    let bounded = issuer_root().with(14, constraints(&[("path", pattern("/data/*"))]));
    let within = issued(&bounded, 3).granting(granting(&[("read", exact("/data/a"))]));
    assert_eq!(judged(&[&bounded, &within]), "accepted");
    assert_eq!(judged(&[&bounded, &issued(&bounded, 3)]), "tenuo_constraint_widened");
    assert_eq!(judged(&[&bounded, &bounded.child(3).without(14)]), "tenuo_bounds_dropped");
    let wider = bounded.child(3).with(14, constraints(&[("path", wildcard())]));
    assert_eq!(judged(&[&bounded, &wider]), "tenuo_constraint_widened");
    let kept = bounded.child(3);
    assert_eq!(judged(&[&bounded, &kept, &issued(&kept, 4)]), "tenuo_constraint_widened");
}

#[test]
fn c2_g3_issue_depth_is_enforced() {
    let issuer = issuer_root().with(13, unsigned(2));
    assert_eq!(judged(&[&issuer, &issued(&issuer, 3)]), "tenuo_issue_depth_exceeded");
    assert_eq!(judged(&[&issuer, &Sketch { max_depth: 2, ..issued(&issuer, 3) }]), "accepted");
    assert_eq!(judged(&[&issuer, &issuer.child(3).without(13)]), "tenuo_issue_depth_exceeded");
    assert_eq!(judged(&[&issuer, &issuer.child(3).with(13, unsigned(3))]), "tenuo_issue_depth_exceeded");
    assert_eq!(judged(&[&issuer, &issuer.child(3)]), "accepted");
}

#[test]
fn c2_g6_64_warrants_are_the_most() {
    let mut line = vec![Sketch { max_depth: 255, ..root() }];
    while line.len() < 65 {
        let mut next = line[line.len() - 1].child(2);
        next.signer = if line.len() == 1 { 2 } else { next.signer };
        line.push(next);
    }
    for count in [3, 23, 24, 25, 31, 32, 64] {
        assert_eq!(judged(&line[..count].iter().collect::<Vec<_>>()), "accepted", "{count}");
    }
    assert_eq!(judged(&line.iter().collect::<Vec<_>>()), "tenuo_stack_too_deep");
}

#[test]
fn c1_constraints_that_take_too_long_to_compare_are_refused() {
    let set = constraint(4, map(&[("values", array(&vec![unsigned(7); 4000]))]));
    let parent = root().granting(granting(&[("read", set)]));
    assert_eq!(judged(&[&parent]), "accepted");
    assert_eq!(judged(&[&parent, &parent.child(3)]), "tenuo_too_much_work");
}
