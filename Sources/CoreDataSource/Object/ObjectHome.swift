internal import RowStore

/// What all objects of one entity in one context have in common. Each of them holds one reference to it, so that an object is small
/// and is made fast.
///
/// **Isolation**: that of the context.
final class ObjectHome {
    let layout: EntityLayout
    /// Nil once the container is gone, and for objects that belong to no context.
    weak let context: (any ObjectContext)?
    /// How objects may be edited.
    let editing: ObjectEditing
    /// Whether the context looks the objects up by values that need not be unique.
    var hasValueIndexes = false

    init(_ layout: EntityLayout, in context: (any ObjectContext)?, _ editing: ObjectEditing) {
        self.layout = layout
        self.context = context
        self.editing = editing
    }
}

/// How an object may be edited.
enum ObjectEditing: UInt8 {
    /// It is for reading, as objects of main are.
    case not
    /// In a batch, which saves or takes back all edits.
    case inBatch
    /// In a draft, which can undo each edit.
    case inDraft
}
