use super::*;
use std::cell::RefCell;

fn growth(topic: &str, to: i32) -> Growth {
    Growth {
        topic: topic.to_owned(),
        to,
    }
}

fn failure(code: i32, message: &str) -> Failure {
    Failure {
        code,
        name: format!("E{code}"),
        message: message.to_owned(),
    }
}

/// Runs a write against `broker` and returns the outcomes and the topics of each request.
async fn run(
    items: Vec<Growth>,
    broker: impl Fn(&[Growth], usize) -> Result<PerName<()>, Error>,
) -> (Outcomes, Vec<Vec<String>>) {
    let sent = RefCell::new(Vec::<Vec<String>>::new());
    let outcomes = write(items, |items| {
        let names = items.iter().map(|item| item.topic.clone()).collect();
        sent.borrow_mut().push(names);
        std::future::ready(broker(&items, sent.borrow().len()))
    })
    .await;
    (outcomes, sent.into_inner())
}

fn all_ok(items: &[Growth]) -> PerName<()> {
    items
        .iter()
        .map(|item| (item.topic.clone(), Ok(())))
        .collect()
}

fn call(topics: &[(&str, i32)], validate_only: bool) -> Call<Growth> {
    let items = topics
        .iter()
        .map(|(topic, to)| growth(topic, *to))
        .collect();
    Call {
        items,
        validate_only,
    }
}

#[test]
fn calls_for_one_topic_and_checks_wait_for_a_round_of_their_own() {
    let calls = [
        call(&[("a", 1), ("b", 1)], false),
        call(&[("c", 1)], true),
        call(&[("b", 2), ("d", 1)], false),
        call(&[("d", 2)], false),
        call(&[("e", 1), ("e", 2)], false),
        call(&[("c", 1)], false),
        call(&[("f", 1)], true),
    ];
    assert_eq!(
        rounds(&calls),
        [vec![0, 4], vec![1, 6], vec![2, 5], vec![3]]
    );
    assert!(rounds::<Growth>(&[]).is_empty());
}

#[tokio::test]
async fn each_call_gets_the_outcomes_of_its_own_topics() {
    let calls = vec![call(&[("a", 1)], false), call(&[("b", 1), ("c", 1)], false)];
    let sent = RefCell::new(Vec::new());
    let answers = serve(calls, |items: Vec<Growth>, validate_only| {
        sent.borrow_mut().push((items.len(), validate_only));
        std::future::ready(Ok(all_ok(&items)))
    })
    .await;
    assert_eq!(sent.into_inner(), [(3, false)]);
    assert_eq!(answers[0].keys().collect::<Vec<_>>(), ["a"]);
    assert_eq!(answers[1].keys().collect::<Vec<_>>(), ["b", "c"]);
}

#[tokio::test]
async fn one_request_for_all_and_one_apart_for_an_oversized_topic() {
    let items = vec![
        growth("a", 6),
        growth("b", 6000),
        growth("c", 6),
        growth("d", 6),
    ];
    let (outcomes, sent) = run(items, |items, _| Ok(all_ok(items))).await;
    assert_eq!(sent, [vec!["a"], vec!["b"], vec!["c", "d"]]);
    assert!(outcomes.values().all(Result::is_ok) && outcomes.len() == 4);
}

#[tokio::test]
async fn the_last_item_of_a_topic_counts() {
    let items = vec![growth("a", 6), growth("a", 8)];
    let (outcomes, _) = run(items, |items, _| {
        assert_eq!(items, [growth("a", 8)]);
        Ok(all_ok(items))
    })
    .await;
    assert_eq!(outcomes.len(), 1);
}

#[tokio::test]
async fn a_refusal_of_the_whole_request_is_narrowed_down_to_the_bad_topic() {
    let items = (0..8).map(|n| growth(&format!("t{n}"), 6)).collect();
    let (outcomes, sent) = run(items, |items, _| {
        if items.iter().any(|item| item.topic == "t5") {
            let refused = || failure(code::POLICY_VIOLATION, "too many");
            Ok(items
                .iter()
                .map(|item| (item.topic.clone(), Err(refused())))
                .collect())
        } else {
            Ok(all_ok(items))
        }
    })
    .await;
    let bad: Vec<&String> = outcomes
        .iter()
        .filter(|(_, outcome)| outcome.is_err())
        .map(|(name, _)| name)
        .collect();
    assert_eq!(bad, ["t5"]);
    assert_eq!(outcomes.len(), 8);
    assert_eq!(sent.len(), 7);
}

#[tokio::test]
async fn a_request_level_error_is_narrowed_down_too() {
    let items = vec![growth("a", 6), growth("b", 6), growth("c", 6)];
    let (outcomes, _) = run(items, |items, _| {
        if items.iter().any(|item| item.topic == "b") {
            Err(Error::Rejected {
                code: "X".to_owned(),
                message: "bad".to_owned(),
            })
        } else {
            Ok(all_ok(items))
        }
    })
    .await;
    assert!(outcomes["a"].is_ok() && outcomes["c"].is_ok());
    assert!(matches!(&outcomes["b"], Err(TopicError::Rejected { code, .. }) if code == "X"));
}

#[tokio::test]
async fn equal_refusals_that_are_each_topics_own_are_not_split() {
    let items = vec![growth("a", 6), growth("b", 6)];
    let (outcomes, sent) = run(items, |items, _| {
        let refused = || failure(29, "denied");
        Ok(items
            .iter()
            .map(|item| (item.topic.clone(), Err(refused())))
            .collect())
    })
    .await;
    assert_eq!(sent.len(), 1);
    assert_eq!(
        outcomes["b"],
        Err(TopicError::NotAuthorized(
            "ALTER on topic b (denied): allow it to the principal of this connection".to_owned()
        ))
    );
}

#[tokio::test]
async fn a_moving_controller_is_tried_again_but_not_for_ever() {
    let items = vec![growth("a", 6), growth("b", 6)];
    let (outcomes, sent) = run(items.clone(), |items, request| {
        if request == 1 {
            let moved = || failure(41, "not the controller");
            Ok(vec![
                ("a".to_owned(), Ok(())),
                ("b".to_owned(), Err(moved())),
            ])
        } else {
            Ok(all_ok(items))
        }
    })
    .await;
    assert_eq!(sent, [vec!["a", "b"], vec!["b"]]);
    assert!(outcomes["b"].is_ok());
    let (outcomes, sent) = run(items, |items, _| {
        let moved = || failure(41, "not the controller");
        Ok(items
            .iter()
            .map(|item| (item.topic.clone(), Err(moved())))
            .collect())
    })
    .await;
    assert_eq!(sent.len(), 4);
    assert!(matches!(outcomes["a"], Err(TopicError::Rejected { .. })));
}

#[tokio::test]
async fn after_silence_nothing_more_is_sent() {
    let items = vec![growth("a", 4000), growth("b", 4000), growth("c", 4000)];
    let (outcomes, sent) = run(items, |_, _| Err(Error::Timeout("no answer".to_owned()))).await;
    assert_eq!(sent, [vec!["a"]]);
    assert_eq!(
        outcomes["a"],
        Err(TopicError::Timeout("no answer".to_owned()))
    );
    assert!(matches!(outcomes["c"], Err(TopicError::Unreachable(_))));
}

#[tokio::test]
async fn a_topic_that_the_answer_leaves_out_has_an_unknown_outcome() {
    let items = vec![growth("a", 6), growth("b", 6)];
    let (outcomes, _) = run(items, |_, _| Ok(vec![("a".to_owned(), Ok(()))])).await;
    assert!(matches!(outcomes["b"], Err(TopicError::Timeout(_))));
}
