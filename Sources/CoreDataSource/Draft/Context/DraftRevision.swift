internal import Observation

/// The state of a draft, as far as observers need it: a number that changes with each change.
///
/// **Isolation**: the main actor, like the draft.
@Observable
final class DraftRevision {
    private var number = 0

    /// Lets the current observer observe all changes of the draft.
    func recordAccess() { _ = number }

    func advance() { number &+= 1 }
}
