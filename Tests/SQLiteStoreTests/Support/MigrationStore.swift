import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel
import Testing

extension SQLiteStore.Options {
    /// As a container with the model opens its store.
    static func of(
        _ model: ManagedObjectModel, _ folder: TemporaryFolder, _ policy: ResetPolicy = .migrate(otherwise: .discard),
        key: String = "1",
        keys: [String: String] = [:], calls: FileCalls = .system
    ) -> SQLiteStore.Options {
        var identity = TestModel.identity(of: model, keys: keys)
        identity.databaseKey = key
        return SQLiteStore.Options(
            url: folder.store, layout: ModelLayout(model), identity: identity, synchronous: .normal,
            resetPolicy: policy, calls: calls)
    }
}

/// Makes a store for the model and runs SQL in it, as a process would have left it.
func makeStore(_ folder: TemporaryFolder, _ model: ManagedObjectModel, _ sql: [String] = []) throws {
    try SQLiteStore.open(.of(model, folder)).close()
    let raw = try RawDatabase(folder.store)
    for sql in sql { try raw.run(sql) }
}

/// Opens with the model, and expects a store that the next start takes for current, and a sound file.
@discardableResult
func migrate(
    _ folder: TemporaryFolder, _ model: ManagedObjectModel, _ policy: ResetPolicy = .migrate(otherwise: .discard),
    key: String = "1",
    keys: [String: String] = [:]
) throws -> (startup: StoreStartup, raw: RawDatabase) {
    try model.validate()
    let store = try SQLiteStore.open(.of(model, folder, policy, key: key, keys: keys))
    store.close()
    let again = try SQLiteStore.open(.of(model, folder, .fail, key: key, keys: keys))
    #expect(again.startup.reason == .current)
    #expect(again.storeID == store.storeID && again.firstFreeKey == store.firstFreeKey)
    again.close()
    try checkIntegrity(folder)
    return (store.startup, try RawDatabase(folder))
}

extension ManagedObjectModel {
    /// The model with a change, its entities in their order.
    func changed(_ change: (inout ManagedObjectModel) -> Void) -> ManagedObjectModel {
        var model = self
        change(&model)
        model.entities.sort { $0.name < $1.name }
        return model
    }

    mutating func edit(_ name: String, _ edit: (inout EntityDescription) -> Void) {
        for index in entities.indices where entities[index].name == name { edit(&entities[index]) }
    }
}
