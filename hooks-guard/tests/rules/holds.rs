//! Properties that hold for every rules file and command. In: both. Out: nothing; panics if a file
//! relaxes a decision that it may not relax.

use std::path::Path;

use hooks_guard::PermissionRequest;
use hooks_guard::classify::{Classifier, Decision};
use hooks_guard::rules::{Origin, Protected, RuleEffect, Rules, RulesError};

/// Asserts properties that hold for every rules file and command.
pub(crate) fn assert_holds(classifier: &Classifier, file: &str, command: &str) {
    let places = Protected::new("/srv/u");
    let origin = Origin::Project { trusted: false };
    let folder = Path::new("/srv/u/project");
    let Ok(found) = classifier.analyze(command) else {
        return;
    };
    let request = PermissionRequest {
        cwd: Some(folder.to_owned()),
        ..PermissionRequest::new(command)
    };
    let alone = Rules::built_in(&places);
    let rank = |rules: &Rules| match (
        rules.decide(&request, &found),
        found.classification.decision,
    ) {
        (Some(verdict), _) => verdict.effect,
        (None, Decision::AutoAllowed) => RuleEffect::Allow,
        (None, Decision::RequiresConfirmation) => RuleEffect::Ask,
    };
    match Rules::parse(file, "guard.toml", origin, Some(folder), &places) {
        Ok(rules) => {
            assert!(
                rank(&rules) >= rank(&alone),
                "an untrusted file allows something"
            );
            let trusted = Origin::Project { trusted: true };
            let trusted = Rules::parse(file, "guard.toml", trusted, Some(folder), &places)
                .expect("a valid file is valid for each origin");
            assert!(rank(&rules) >= rank(&trusted), "trust makes it stricter");
            let guarded = alone.decide(&request, &found).is_some();
            assert!(
                !guarded || rank(&trusted) >= RuleEffect::Ask,
                "a protection is bypassed"
            );
        }
        Err(RulesError::Mistakes(mistakes)) => assert!(!mistakes.is_empty()),
        Err(_) => {}
    }
}
