import Foundation
import ManagedModel
import RowStore
import SQLiteStore
import StoreTestModel

// Opens a store, for tests that kill the program at one of its system calls:
// store-program FILE HASH ITEM-KEY POLICY
//
// The model is that of the store's tests, or with the last two policies a later one, to which a store is migrated. It
// exits with 0 and the reason, or with 1 and the code of the error.

let arguments = CommandLine.arguments.dropFirst().map { String($0) }
guard arguments.count == 4 else {
    print("usage: store-program FILE HASH ITEM-KEY discard|ask|backup|changedEntities|migrate|strict")
    exit(2)
}
let policies: [String: ResetPolicy] = [
    "discard": .discard, "ask": .ask, "backup": .backup(keep: 1), "changedEntities": .changedEntities,
]
let laterModels = ["migrate": TestModel.nextModel, "strict": TestModel.strictModel]
let oldIdentity = StoreIdentity(
    modelHash: arguments[1], entityHashes: ["Item": arguments[1], "SubItem": "sub"], databaseKey: "1",
    entityKeys: ["Item": arguments[2]])
let laterModel = laterModels[arguments[3]]
do throws(DataSourceError) {
    let store = try SQLiteStore.open(
        SQLiteStore.Options(
            url: URL(fileURLWithPath: arguments[0]), layout: ModelLayout(laterModel ?? TestModel.model),
            identity: laterModel.map { TestModel.identity(of: $0) } ?? oldIdentity,
            resetPolicy: laterModel == nil ? policies[arguments[3]] ?? .ask : .migrate))
    print(store.startup.reason)
    fflush(nil)
    // As a process that ends without closing: what opening did is all that was done.
    withExtendedLifetime(store) { _exit(0) }
} catch {
    print(error.code.rawValue)
    fflush(nil)
    _exit(1)
}
