public import Observation

/// An observer that reads the draft's object or any other property of the draft is notified of all changes: of edits, undo and
/// redo, of the end of a save, of ``Draft/discard()``, and of other saves.
///
/// An object of the draft is not observable by itself. So a view reads `draft.object.name`, and keeps no reference to the object.
extension Draft: Observable {}

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
