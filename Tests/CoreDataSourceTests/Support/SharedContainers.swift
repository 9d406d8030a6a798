import CoreDataSource
import Foundation
import RowStore
import SQLiteStore

extension PersistentContainer {
    /// A container over the contacts model whose store others may have open.
    static func shared(
        _ url: URL, model: ManagedObjectModel = .contacts, times: LeaseTimes = .patient,
        configuration: Configuration = .init(synchronous: .normal)
    ) throws -> PersistentContainer {
        let layout = ModelLayout(model)
        var options = SQLiteStore.Options(
            url: url, layout: layout,
            identity: StoreIdentity(model), synchronous: configuration.synchronous,
            resetPolicy: configuration.resetPolicy)
        options.isShared = true
        options.leaseTimes = times
        options.history = configuration.history
        options.tracing = configuration.trace.map { StatementTracing(showsValues: configuration.tracesValues, $0) }
        if let name = configuration.name { options.memberName = name }
        let store = try SQLiteStore.open(options)
        return PersistentContainer(layout, store, startup: store.startup, configuration: configuration)
    }
}

extension SQLiteStore.Options {
    /// For a file of contacts.
    static func contacts(_ url: URL, isShared: Bool = false) -> Self {
        let layout = ModelLayout(.contacts)
        var options = Self(url: url, layout: layout, identity: StoreIdentity(.contacts), synchronous: .normal)
        (options.isShared, options.leaseTimes) = (isShared, .patient)
        return options
    }
}

extension LeaseTimes {
    /// On a busy machine the thread that would hand a lease over may come late. Nobody gives up or is taken for halted meanwhile.
    static let patient = {
        var times = LeaseTimes()
        times.patience = .seconds(600)
        times.answer = .seconds(60)
        return times
    }()

    /// For tests in which somebody waits in vain.
    static let short = {
        var times = LeaseTimes.patient
        times.patience = .milliseconds(300)
        return times
    }()

    /// Of a container that does not answer those who wait, as if its process were halted.
    static let stopped = {
        var times = LeaseTimes.patient
        (times.turn, times.pause) = (.seconds(3600), .seconds(3600))
        times.answer = .seconds(3600)
        return times
    }()

    /// Of a container that does not wait for an answer.
    static let impatient = {
        var times = LeaseTimes.patient
        times.answer = .zero
        return times
    }()
}
