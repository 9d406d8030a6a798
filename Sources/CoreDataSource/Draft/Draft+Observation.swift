public import Observation

/// An observer that reads the draft's object or any other property of the draft is notified of all changes: of edits, undo and
/// redo, of the end of a save, of ``Draft/discard()``, and of other saves.
///
/// An object of the draft is not observable by itself. So a view reads `draft.object.name`, and keeps no reference to the object.
extension Draft: Observable {}
