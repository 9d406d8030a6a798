import CoreDataSource
import Foundation
import RowStore
import SQLiteStore

extension PersistentContainer {
    /// A container over the contacts model whose store others may have open.
    static func shared(
        _ url: URL, model: ManagedObjectModel = .contacts, times: LeaseTimes = LeaseTimes(),
        configuration: Configuration = .init(synchronous: .normal)
    ) throws -> PersistentContainer {
        let layout = ModelLayout(model)
        var options = SQLiteStore.Options(
            url: url, layout: layout,
            identity: StoreIdentity(model), synchronous: configuration.synchronous)
        options.isShared = true
        options.leaseTimes = times
        let store = try SQLiteStore.open(options)
        return PersistentContainer(layout, store, store.startup, configuration)
    }
}

extension LeaseTimes {
    /// For tests in which somebody waits in vain.
    static let short = {
        var times = LeaseTimes()
        times.patience = .milliseconds(300)
        return times
    }()

    /// Of a container that does not answer those who wait, as if its process were halted.
    static let stopped = {
        var times = LeaseTimes()
        times.minimumHold = .seconds(3600)
        times.answer = .seconds(3600)
        return times
    }()

    /// Of a container that does not wait for an answer.
    static let impatient = {
        var times = LeaseTimes()
        times.answer = .zero
        return times
    }()
}
