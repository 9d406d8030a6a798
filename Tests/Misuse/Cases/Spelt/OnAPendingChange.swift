// error: has been renamed to 'insert'
// error: has been renamed to 'update'
// error: has been renamed to 'delete'
import CoreDataSource

func name(of change: PendingChanges.Change<Contact>) -> String {
    if change.kind == .inserted { return "new" }
    if change.kind == .updated { return "changed" }
    return change.kind == .deleted ? "gone" : ""
}
