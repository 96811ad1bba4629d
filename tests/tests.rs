//! Every test that needs a server: a real Kafka, a real Kubernetes API server and the operator's own binary.
//!
//! The servers start once, before the first test, and stop after the last one (`env` says how). To add a test, write
//! `pub(crate) fn name(env: &Env)` in the module whose first line says that it belongs there, and name it below.

// A test that can't go on has to stop with a message; `unwrap` stays forbidden, because it has none.
#![allow(clippy::expect_used)]

mod admission;
mod api;
mod auto_created;
mod chart;
mod claims;
mod colocated;
mod configs;
mod conformance;
mod connections;
mod counts;
mod crashes;
mod documents;
mod drift;
mod edits;
// It offers what tests of a Kafka operator need; not all of it is in use at every time.
#[allow(dead_code, unused_imports)]
mod env;
mod env_smoke;
mod examples;
mod foretold;
mod gitops;
// The DSL of the modules below; what one of them does not use is no mistake.
#[allow(dead_code)]
mod group;
mod groups;
mod growth;
mod guarded;
mod image;
mod joiner;
mod kafka;
mod leader;
mod lifecycle;
mod locks;
mod logs;
mod members;
mod memory;
mod monitoring;
mod oneshot;
mod outages;
mod plugin;
mod policies;
mod proof;
mod quiescence;
mod redis;
mod rights;
mod sample;
mod scene;
mod schemes;
// What the servers count, for the modules that compare counts; not each uses all of it.
#[allow(dead_code)]
mod seen;
mod soak;
mod validation;
mod verify;
mod xorshift;

use std::process::ExitCode;
use std::sync::Arc;

use libtest_mimic::{Arguments, Trial};

use env::Env;

macro_rules! trial {
    ($env:ident, $module:ident::$test:ident) => {{
        let env = $env.cloned();
        Trial::test(
            concat!(stringify!($module), "::", stringify!($test)),
            move || {
                $module::$test(env.as_ref().expect("the servers run whenever a test does"));
                Ok(())
            },
        )
    }};
}

/// Makes the function that lists all tests out of `module: [test, ...];` lines. What stands after `ignored:` runs only
/// when asked for (`--ignored`).
macro_rules! trials {
    ($($module:ident: [$($test:ident),+ $(,)?] $(ignored: [$($ignored:ident),+ $(,)?])?;)+) => {
        fn trials(env: Option<&Arc<Env>>) -> Vec<Trial> {
            let mut trials = Vec::new();
            $(
                $(trials.push(trial!(env, $module::$test));)+
                $($(trials.push(trial!(env, $module::$ignored).with_ignored_flag(true));)+)?
            )+
            trials
        }
    };
}

trials! {
    env_smoke: [
        kafka_answers_and_logs_requests,
        own_client_creates_grows_writes_and_deletes,
        a_restarted_node_keeps_its_topics,
        three_nodes_survive_the_loss_of_one,
        a_paused_node_answers_again,
        audit_counts_requests,
        a_deleted_namespace_goes,
        the_operator_user_may_do_nothing,
        a_restarted_api_server_keeps_its_objects,
        nothing_is_left_behind,
        a_killed_run_leaves_no_process,
    ];
    admission: [
        a_spec_that_is_wrong_by_itself_is_denied,
        a_name_that_leaves_no_room_for_a_claim_is_denied,
        a_count_can_be_neither_unset_nor_lowered,
        a_rise_without_a_matching_consent_is_denied,
        a_rise_that_moves_no_keys_unasked_passes,
        three_different_counts_are_brought_together_in_two_commits,
        labels_finalizers_and_status_can_be_written_in_every_state,
    ];
    api: [
        the_files_in_crds_are_what_the_operator_prints,
        the_api_server_keeps_the_resource_definitions_as_they_are,
        a_group_that_nobody_has_looked_at_is_pending,
        a_dry_run_on_the_server_gives_the_denial,
        every_way_to_write_meets_the_same_rules,
        two_managers_own_different_topics_of_one_group,
        nothing_but_the_status_is_written_to_a_group,
    ];
    edits: [
        kubectl_edit_meets_the_rules,
        server_side_apply_meets_the_rules_with_and_without_force,
        another_key_scheme_needs_no_consent,
        a_group_that_is_created_again_with_other_numbers_moves_nothing,
    ];
    validation: [
        a_field_that_is_not_implemented_is_refused_by_name,
        all_that_is_wrong_is_said_at_once,
        a_refused_edit_keeps_what_was_known_and_writes_nothing,
        an_object_that_cannot_be_read_stops_no_other,
    ];
    kafka: [
        the_cluster_tells_its_id,
        nothing_asks_for_all_topics,
        asking_never_creates_a_topic,
        creation_has_one_outcome_per_topic,
        growth_has_one_outcome_per_topic,
        odd_names_do_not_spoil_a_request,
        setting_a_key_leaves_the_others,
        end_offsets_follow_records_and_growth,
        a_hidden_topic_is_not_authorized,
        new_topics_are_read_at_once,
        changes_are_announced_to_their_groups_only,
        a_deleted_topic_is_missed_twice_and_comes_back_as_another,
        own_changes_show_soon_without_a_poll,
        a_fresh_reading_goes_past_the_snapshot_and_into_it,
        many_groups_make_few_requests,
        groups_share_clusters_that_live_as_long_as_they_are_used,
        one_request_creates_and_one_describes_hundreds,
        an_oversized_topic_fails_alone,
        calls_at_the_same_time_share_requests,
        a_closed_port_is_unreachable_in_time_and_blocks_nothing,
        a_name_that_does_not_resolve_is_unreachable,
        a_listener_that_wants_a_login_is_unreachable_with_a_hint,
        settings_without_a_server_are_refused,
        dropped_clients_disconnect_without_blocking,
        a_silent_broker_is_a_verdict_only_after_three_polls_and_heals,
        a_cluster_that_never_answers_is_given_up,
        three_nodes_lag_and_lose_a_leader,
        each_mechanism_logs_in,
        a_refused_login_is_named,
        a_refused_certificate_is_named,
        the_wrong_protocol_is_hinted_at,
        unusable_credentials_are_refused_before_anything_is_sent,
        a_token_logs_in,
        tokens_are_renewed_before_they_end,
        a_token_that_is_refused_or_missing_is_named,
        the_least_set_of_rights_is_enough_and_each_is_needed,
        what_a_principal_may_do_is_told,
        the_brokers_default_count_is_told_to_who_may_see_it,
        a_lock_denies_all_but_super_users_and_touches_no_other_acl,
        locks_need_rights_and_an_authorizer,
        a_rotated_password_is_taken_over_without_a_gap,
        a_rotated_ca_is_taken_over_without_a_gap,
        renewed_credentials_that_are_wrong_show_once_the_earlier_ones_are_given_up,
        own_connections_learn_the_version_behind_every_login,
        own_connections_name_what_is_refused,
    ] ignored: [
        fifty_plaintext_connections,
        fifty_encrypted_connections,
        fifty_connections_with_login,
    ];
    colocated: [
        members_that_read_together_or_apart_are_told_and_nothing_is_written_without_news,
        sub_topologies_of_kafka_streams_are_told_apart_until_a_store_joins_them,
    ];
    groups: [
        groups_of_all_protocols_are_read_with_their_members,
        an_application_that_stopped_over_unequal_counts_still_names_its_topics,
        a_hundred_groups_of_two_members_take_a_few_requests,
    ];
    conformance: [
        java_puts_keys_where_murmur2_says,
        librdkafka_puts_keys_where_its_seven_schemes_say,
        a_client_of_another_scheme_is_found_out,
        the_table_of_clients_says_what_runs_here,
    ] ignored: [
        java,
        kafka_streams,
        spring_cloud_stream,
        debezium,
        librdkafka,
        confluent_kafka,
        kafka_python,
        aiokafka,
        kafkajs,
        kafkajs_1,
        platformatic,
        kafka_node,
        sarama,
        kafka_go,
        franz_go,
        kafka_rust,
    ];
    leader: [
        of_two_replicas_one_acts_and_the_other_takes_over_when_it_stops,
        a_leader_that_was_held_up_writes_nothing_once_it_is_deposed,
        a_lease_that_cannot_be_used_is_named,
        an_edit_of_the_lease_ends_no_term,
        a_leader_killed_amid_500_creations_and_a_growth_leaves_an_exact_account,
    ];
    lifecycle: [
        missing_topics_are_created_as_declared,
        the_status_says_where_the_sample_keys_lie,
        existing_topics_are_adopted_as_they_are,
        a_deleted_group_leaves_its_topics,
        a_referenced_topic_is_never_created_nor_configured,
        observe_reports_and_never_writes,
        a_paused_group_is_left_alone_until_the_pause_ends,
        one_refused_topic_stops_no_other,
        a_replication_factor_that_kafka_cannot_give_is_said_in_its_words,
        kubectl_get_shows_the_verdicts,
        a_converged_group_is_written_no_more,
    ];
    locks: [
        whoever_is_no_super_user_adds_no_partition,
        a_growth_lifts_the_lock_and_puts_it_back,
        a_crash_while_a_lock_is_lifted_leaves_it_put_back,
        an_operator_that_is_killed_while_locks_are_lifted_puts_them_back,
        a_deny_of_somebody_else_is_never_touched,
        two_operators_leave_each_others_locks_alone,
        no_topic_gets_its_first_acl_where_that_would_hide_it,
        a_lock_that_cannot_be_undone_is_shown_until_it_is_forgotten,
        a_lock_needs_a_connection_and_its_rights,
        locks_on_a_cluster_that_was_left_are_undone_there,
    ];
    counts: [
        an_unset_count_is_the_one_that_existing_topics_share,
        an_unset_count_stays_open_while_topics_disagree,
        an_unset_count_stays_open_while_no_topic_exists,
        a_topic_with_more_partitions_than_asked_freezes_the_group,
        a_count_changed_behind_the_operators_back_is_drift,
    ];
    configs: [
        declared_keys_are_set_and_all_others_are_left,
        config_changed_by_hand_is_set_back,
        a_refused_value_is_told_in_kafkas_words_and_leaves_the_group_ready,
        config_that_would_drop_records_needs_a_consent_that_counts_once,
        a_cleanup_policy_that_deletes_needs_a_consent,
        a_topic_that_the_operator_created_takes_any_declared_config,
        a_value_that_kafka_spells_in_its_own_way_is_not_sent_without_end,
    ];
    growth: [
        a_consent_grows_all_topics_in_one_request_and_is_spent,
        a_spent_consent_authorises_nothing_until_it_names_the_live_ids,
        a_consent_is_spent_as_well_when_somebody_else_did_the_growth,
        a_refusal_says_what_would_move_and_what_to_write,
        a_refusal_mentions_a_compacted_topic,
        empty_topics_grow_without_consent,
        a_topic_with_records_does_not_grow_by_a_forced_replacement,
        a_topic_with_records_does_not_grow_by_a_new_group_of_the_same_name,
        a_forced_replacement_keeps_a_spent_consent_spent,
        a_consent_that_leaves_a_topic_out_grows_none,
        a_consent_with_other_numbers_grows_nothing,
        managed_topics_grow_after_the_owner_grew_the_referenced_one,
        topics_with_different_counts_take_a_commit_each,
        the_api_server_refuses_a_rise_that_the_operator_would_refuse,
        a_rise_that_was_made_while_observing_needs_the_consent_afterwards,
    ];
    claims: [
        the_second_group_of_a_topic_takes_over_once_the_first_is_gone,
        the_second_group_of_a_topic_takes_over_once_the_first_drops_it,
        of_two_groups_applied_at_once_one_wins_and_stays_the_winner,
        two_installations_never_both_hold_a_topic,
        a_group_that_adds_a_contested_topic_keeps_what_it_held,
        referenced_topics_are_shared,
        a_claim_is_collected_only_when_its_group_is_gone_for_good,
        topics_stay_held_while_the_claim_outlives_its_group,
        a_group_that_begins_to_observe_releases_its_topics,
        the_largest_claim_there_can_be_is_stored_and_read,
    ];
    crashes: [
        a_growth_cut_off_before_its_request_is_completed,
        a_growth_cut_off_between_two_topics_is_completed,
        a_growth_cut_off_before_its_record_is_completed,
        an_operator_that_is_killed_again_and_again_gets_there,
        sigterm_ends_it_with_success,
    ];
    drift: [
        drift_by_kafkas_own_tool_shows_within_two_polls_and_is_told_once,
        a_drifted_group_is_frozen_but_for_its_config_until_a_commit_takes_the_new_count,
        drift_on_a_referenced_topic_is_reported_and_its_siblings_stay,
        a_deleted_topic_is_believed_at_the_second_look_and_created_only_when_acknowledged,
        a_deleted_topic_may_be_taken_out_of_the_spec,
        a_recreated_topic_is_adopted_only_when_its_new_id_is_acknowledged,
        new_topics_are_never_called_missing_or_deleted,
        another_cluster_under_the_address_is_left_alone_until_it_is_acknowledged,
        the_same_cluster_under_another_address_is_no_event,
    ];
    memory: [
        a_claim_that_somebody_deletes_or_edits_is_written_again,
        a_claim_deleted_while_the_operator_is_stopped_comes_back_from_the_status,
        what_was_deleted_or_replaced_is_not_new_because_the_claim_was_lost,
        a_group_that_is_replaced_by_force_inherits_its_memory,
        the_memory_of_another_kubernetes_cluster_is_not_acted_on_until_acknowledged,
        the_claim_of_another_installation_is_left_alone,
        a_namespace_goes_while_the_operator_is_stopped_and_its_topics_stay,
        two_installations_over_one_namespace_never_write_in_turn,
        a_second_kubernetes_cluster_on_the_same_kafka_shows_up_as_drift,
    ];
    oneshot: [
        missing_topics_are_created_and_a_second_run_writes_nothing,
        a_dry_run_says_what_it_would_do_and_writes_nothing,
        a_dry_run_finds_what_kafka_would_refuse,
        a_growth_needs_its_consent_here_too,
        a_growth_cut_off_between_two_topics_is_completed_by_the_next_run,
        declared_config_is_set_and_what_would_drop_records_is_not,
        drift_a_pause_and_an_observer_are_somebodys_to_decide,
        a_status_in_the_file_is_remembered,
        every_group_is_done_and_the_worst_exit_code_counts,
        two_groups_of_a_run_cannot_manage_one_topic,
        what_cannot_be_read_is_named_and_nothing_is_asked,
        an_address_where_nobody_answers_is_given_up_in_time,
        a_signal_ends_it_at_once_and_it_says_what_is_left,
        wrong_usage_is_never_taken_for_a_verdict,
        the_json_is_as_documented_and_alone_on_standard_output,
    ];
    schemes: [
        topics_written_by_different_clients_are_not_aligned,
        schemes_that_agree_at_this_count_say_what_breaks_them,
        custom_and_framed_keys_are_neither_aligned_nor_blocked,
        a_layout_that_loses_its_gaps_is_not_merged_with_the_old_one,
        redis_templates_share_a_slot_or_not,
    ];
    plugin: [
        a_live_group_is_laid_out_at_its_live_count,
        a_growth_of_a_live_group_is_foretold,
        kubectl_runs_and_completes_the_plugin,
        a_group_that_cannot_be_read_is_one_clear_line,
        nothing_is_printed_of_bad_keys_and_a_closed_pipe_is_no_error,
    ];
    auto_created: [
        a_topic_that_a_client_created_too_early_is_told_from_one_that_drifted,
    ];
    foretold: [
        a_growth_is_foretold_with_all_that_it_breaks_and_the_consent_to_paste,
        a_pull_request_is_judged_against_the_live_group,
        a_plan_that_cannot_ask_says_how_it_could,
    ];
    outages: [
        kafka_that_is_down_at_the_start_is_named_and_heals_by_itself,
        an_outage_keeps_the_verdicts_is_written_once_and_hinders_no_other_cluster,
        a_blip_flips_nothing_and_writes_nothing,
        a_spec_that_changes_during_an_outage_is_never_called_aligned_before_it_is_looked_at,
        the_operator_outlives_the_api_server,
        without_an_api_server_or_its_definitions_it_waits_and_writes_nothing,
        metrics_parse_and_name_no_group_and_no_topic,
        an_outage_of_one_of_three_clusters_is_written_once_a_group_and_in_turns,
    ];
    chart: [
        helm_finds_nothing_wrong_and_refuses_what_it_does_not_know,
        what_is_rendered_follows_the_values,
        the_plain_manifests_grant_what_the_example_grants,
        the_operator_works_under_the_rights_of_the_chart_and_what_it_managed_outlives_it,
        an_installation_for_some_namespaces_has_its_rights_there,
    ];
    gitops: [
        every_state_is_what_argo_cd_and_kstatus_should_show,
        the_health_scripts_give_what_their_tests_say,
        the_config_map_for_argo_cd_holds_the_scripts,
        connections_are_judged_on_what_the_operator_says,
        no_example_is_out_of_sync_once_it_is_reconciled,
    ];
    logs: [a_line_of_json_carries_group_topic_and_cluster];
    image: [
        the_recipe_copies_what_cargo_needs,
        the_recipe_fits_the_toolchain_and_the_chart,
    ];
    monitoring: [
        the_page_the_alerts_and_the_dashboard_fit_each_other,
        every_alert_is_tested_and_has_its_runbook,
        waiting_is_all_that_is_not_stalled,
    ];
    quiescence: [
        an_aligned_group_is_left_alone_also_after_a_restart,
        groups_that_wait_for_somebody_are_left_alone,
        a_refused_config_is_tried_again_with_growing_pauses_and_said_once,
        an_unreachable_cluster_is_written_once,
        a_new_group_costs_three_writes_to_the_api_server_and_one_to_kafka,
        the_role_of_the_example_suffices_and_grants_nothing_else,
    ];
    guarded: [
        a_guarded_reference_may_have_the_count_that_its_group_waits_for,
    ];
    soak: [
        a_short_one_leaves_an_exact_account,
    ] ignored: [
        a_long_one_leaves_an_exact_account,
    ];
    sample: [
        the_newest_records_of_each_partition_are_given,
        missing_empty_and_other_keys_and_tombstones_are_told_apart,
        records_of_every_codec_are_read,
        only_committed_records_are_given_and_none_is_waited_for,
        gaps_of_compaction_are_not_waited_for,
        records_since_a_time_are_given,
        a_spent_budget_is_resumed_without_a_record_lost_or_twice,
        what_arrives_during_the_reading_is_not_waited_for,
        a_sink_can_end_the_reading,
        no_group_comes_of_it_and_nothing_is_committed,
        a_topic_that_is_missing_or_deleted_meanwhile_stops_no_other,
        a_topic_that_is_replaced_meanwhile_is_not_taken_for_the_old_one,
        a_broker_that_falls_silent_or_dies_meanwhile_is_named,
        nobody_at_the_address_is_an_error_of_the_whole,
        a_missing_permission_is_named,
        a_record_that_is_too_large_holds_up_its_partition_only,
        records_that_retention_takes_meanwhile_are_skipped,
        a_partition_without_a_leader_stops_no_other_topic,
        a_dropped_reading_lets_go_of_its_thread_and_sockets,
        a_reading_gives_its_sink_back,
    ];
    connections: [
        consumer_groups_need_a_rule_and_a_right,
        a_group_works_through_a_connection_and_no_secret_shows,
        what_no_rule_allows_is_refused_and_what_stood_is_kept,
        missing_rights_are_listed,
        namespaces_may_be_named_by_label,
        what_is_missing_is_named_and_taken_up_when_it_comes,
        a_wrong_password_is_named_and_a_new_one_taken_up,
        inline_connections_need_permission_and_their_own_secrets,
        a_strimzi_cluster_gives_address_ca_and_user,
        a_pipeline_takes_the_properties_of_kafkas_tools,
        a_rotated_password_is_no_outage,
    ];
    proof: [
        records_are_proven_and_a_stranger_is_named,
        keys_are_shown_only_to_who_asks,
        what_is_open_has_its_reason,
        an_edited_scheme_is_judged_anew,
        records_from_before_a_growth_are_judged_at_their_count,
        a_topic_that_its_owner_grows_is_not_accused,
        a_restart_neither_forgets_nor_reads_again,
        what_exceeds_the_budget_is_said_and_holds_up_no_other,
        without_the_permission_nothing_is_claimed,
        a_huge_record_is_named_and_drift_is_seen,
    ];
    verify: [
        topics_written_alike_are_proven,
        another_partitioner_is_named_with_its_clients,
        records_without_keys_and_without_order_are_told_apart,
        what_cannot_be_read_proves_nothing,
        the_newest_records_are_enough_and_all_can_be_had,
        a_growth_by_the_operator_is_judged_by_its_marks,
        java_and_kafkajs_are_alike,
        librdkafkas_default_is_named_beside_java,
        kafka_go_in_turns_is_no_order,
        a_producer_without_keys_is_unkeyed,
        an_old_and_a_new_producer_are_told_apart,
        avro_keys_of_two_schema_ids_are_seen,
        a_windowed_topic_of_streams_fits_its_input,
        the_proof_of_the_seeds_holds_and_breaks,
        what_compaction_left_is_proven,
        records_in_zstd_are_proven,
        aborted_records_prove_nothing,
        a_reading_that_ended_early_goes_on_from_its_checkpoint,
        an_interrupted_reading_keeps_where_it_was,
        a_checkpoint_of_other_topics_is_refused,
    ];
    policies: [
        topics_of_other_operators_keep_the_count_of_their_group,
        policies_may_come_and_go_in_any_order,
        all_policies_say_the_same_of_a_claim,
    ];
    documents: [
        blocks_are_told_apart_and_outputs_compared,
        every_command_and_manifest_of_the_documents_works,
    ];
    examples: [
        the_assigner_for_kafkajs_keeps_equal_numbers_together,
        the_topologies_of_kafka_streams_tell_before_they_run,
        a_shared_store_joins_the_sub_topologies_of_kafka_streams,
    ];
    redis: [
        published_slots_are_those_of_the_server_and_ours,
        slots_of_random_keys_are_those_of_the_server,
        tagged_keys_of_a_ticker_share_a_slot,
    ];
}

fn main() -> ExitCode {
    if env_smoke::is_a_run_to_be_killed() {
        return env_smoke::run_to_be_killed();
    }
    let mut args = Arguments::from_args();
    // Most of a test's time is waiting for a server, so a few more than there are cores go at the same time.
    args.test_threads.get_or_insert(4);
    let env = (!args.list).then(|| Arc::new(Env::start()));
    let conclusion = libtest_mimic::run(&args, trials(env.as_ref()));
    // Before the process exits, which would not stop the servers in order nor remove their folder.
    drop(env);
    conclusion.exit_code()
}
