// error: call to actor-isolated instance method 'onAdd(_:in:)' in a synchronous main actor-isolated context
import CoreDataSource

@MainActor func addByHand(_ contacts: ContactDataSource) throws {
    _ = try contacts.onAdd("Guan Yu", in: contacts.context)
}
