//! Finds packages that a command may download and run. In: a part of a request. Out: the first such
//! package.

use std::path::Path;

use super::context::RequestContext;
use crate::classify::{PackageRun, Part, Tables};

/// Returns the first package that a part runs and that is not installed in the project, so that it is
/// downloaded.
pub(super) fn downloaded_package<'p>(
    context: &RequestContext<'_>,
    part: &'p Part,
) -> Option<PackageRun<'p>> {
    let is_installed = |run: &PackageRun<'_>| {
        let is_plain = |package: &&str| !package.contains(['/', '@', ':']);
        let package = run.package.filter(is_plain);
        let (Some(package), Some(programs)) = (package, run.installed_in) else {
            return false;
        };
        context.start.folders.iter().all(|folder| {
            let around = Path::new(folder).ancestors();
            let mut inside = around.take_while(|folder| {
                let folder = folder.to_string_lossy();
                context.project().holds_name(&folder)
            });
            inside.any(|folder| folder.join(programs).join(package).exists())
        })
    };
    let runs = Tables::embedded().packages_run_by(part);
    runs.into_iter().find(|run| !is_installed(run))
}
