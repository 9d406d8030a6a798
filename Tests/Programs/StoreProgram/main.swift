import CSQLite
import Foundation
import ManagedModel
import ModelReader
import RowStore
import SQLiteStore
import StoreTestModel

// Opens a store, for tests that kill the program at one of its system calls:
// store-program FILE HASH ITEM-KEY POLICY
//
// The model is that of the store's tests, or with `migrate` and `strict` a later one, to which a store is migrated. It
// exits with 0 and the reason, or with 1 and the code of the error.
//
// store-program FILE "" MODEL-FILE upgrade
//
// Opens a store of an earlier format with the model of that file.
//
// store-program FILE index
//
// Opens a store for a model that has an index more, and prints the most memory that SQLite used, in bytes.
//
// store-program FILE save MARK
//
// Makes one save in a store that others share: see SharedSave.swift.

let arguments = CommandLine.arguments.dropFirst().map { String($0) }
if arguments.count == 2 && arguments[1] == "index" {
    do throws(DataSourceError) {
        let store = try SQLiteStore.open(
            SQLiteStore.Options(
                url: URL(fileURLWithPath: arguments[0]), layout: ModelLayout(TestModel.indexedModel),
                identity: TestModel.identity(), resetPolicy: .fail))
        print(sqlite3_memory_highwater(0))
        store.close()
        exit(0)
    } catch {
        print("\(error)")
        exit(1)
    }
}
if arguments.count == 3 && arguments[1] == "save" {
    do throws(DataSourceError) {
        try saveShared(URL(filePath: arguments[0]), mark: arguments[2])
        exit(0)
    } catch {
        print("\(error)")
        exit(1)
    }
}
guard arguments.count == 4 else {
    print("usage: store-program FILE HASH ITEM-KEY standard|discard|fail|backup|changedEntities|migrate|strict")
    print("       store-program FILE index")
    print("       store-program FILE save MARK")
    exit(2)
}
let policies: [String: ResetPolicy] = [
    "standard": .standard, "discard": .discard, "fail": .fail, "backup": .backup(keep: 1),
    "changedEntities": .changedEntities,
]
let laterModels = ["migrate": TestModel.nextModel, "strict": TestModel.strictModel]
let oldIdentity = StoreIdentity(
    modelHash: arguments[1], entityHashes: ["Item": arguments[1], "SubItem": "sub"], databaseKey: "1",
    entityKeys: ["Item": arguments[2]])
let laterModel =
    arguments[3] == "upgrade"
    ? try ModelReader.read(data: Data(contentsOf: URL(filePath: arguments[2])), name: "").model
    : laterModels[arguments[3]]
let otherPolicy: ResetPolicy = arguments[3] == "upgrade" ? .fail : .migrate(otherwise: .discard)
do throws(DataSourceError) {
    let store = try SQLiteStore.open(
        SQLiteStore.Options(
            url: URL(fileURLWithPath: arguments[0]), layout: ModelLayout(laterModel ?? TestModel.model),
            identity: laterModel.map { TestModel.identity(of: $0) } ?? oldIdentity,
            resetPolicy: laterModel == nil ? policies[arguments[3]] ?? .fail : otherPolicy))
    print(store.startup.reason)
    fflush(nil)
    // As a process that ends without closing: what opening did is all that was done.
    withExtendedLifetime(store) { _exit(0) }
} catch {
    print(error.code.rawValue)
    fflush(nil)
    _exit(1)
}
