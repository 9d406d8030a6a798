import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// What a list along a relationship costs when one related row changes: statements, rows and the instructions that SQLite ran.
/// All are counted, and the same however many objects there are.
@MainActor struct RelatedListCostTests {
    private nonisolated static let predicates = [
        "ANY messages.isRead == NO", "ALL messages.isRead == YES", "NONE messages.isRead == NO", "messages.@count > 3",
        "messages.@sum.size >= 20", "SUBQUERY(messages, $m, $m.isRead == NO AND $m.size > 1).@count > 1",
    ]

    private struct Cost: Equatable {
        var (statements, rows, steps) = (0, 0, 0)
    }

    @Test(arguments: predicates) func aChangeReadsTheOwnersThatItReachesAndTheirRelatedRows(format: String) async throws
    {
        // The last thread is none of those that change: SQLite needs one instruction less to find the end of an index.
        let few = try await World(threads: 12, messages: 5, format).costs()
        let many = try await World(threads: 120, messages: 5, format).costs()
        #expect(few == many)
        // The rows with the links, and at most two owners.
        #expect(many.allSatisfy { $0.statements > 0 && $0.rows <= 4 && $0.steps > 0 }, "\(many)")
        // The related rows of the owners are part of the cost.
        let long = try await World(threads: 12, messages: 50, format).costs()
        #expect(
            zip(many, long).contains { $0.steps < $1.steps } && zip(many, long).allSatisfy { $1.steps < 40 * $0.steps })
    }

    /// Or the counts above would say nothing.
    @Test func theStepsOfAFetchGrowWithTheStore() async throws {
        let few = try await World(threads: 10, messages: 5, "messages.@count > 9").costOfAFetch()
        let many = try await World(threads: 120, messages: 5, "messages.@count > 9").costOfAFetch()
        #expect(few.rows == 0 && many.rows == 0 && few.steps * 5 < many.steps)
    }

    /// Threads with messages, and a list of some of the threads.
    @MainActor private struct World {
        let threadCount: Int
        let messageCount: Int
        let request: ObjectRequest<MailThread>
        private let directory: TestSupport.TemporaryDirectory
        private let traces = Shared<[StatementTrace]>([])

        init(threads: Int, messages: Int, _ format: String) throws {
            (threadCount, messageCount) = (threads, messages)
            request = ObjectRequest(
                MailThread.self, where: try FetchPredicate(format: format), order: [.ascending(\.title)])
            directory = try TestSupport.TemporaryDirectory()
        }

        private func with<Result>(
            _ body: @MainActor (PersistentContainer, MailDataSource, [ManagedObjectID]) async throws -> Result
        ) async throws -> Result {
            let traces = traces
            let configuration = PersistentContainer.Configuration(
                synchronous: .normal,
                trace: { trace in if !trace.isLookingForOthers { traces.update { $0.append(trace) } } })
            let container = try await PersistentContainer(
                model: .mail, store: .sqlite(directory.url.appending(path: "store.sqlite")),
                configuration: configuration)
            let mail = try container.dataSource(MailDataSource.self)
            let (threadCount, messageCount) = (threadCount, messageCount)
            let threads = try await mail.perform { context in
                try (0..<threadCount).map { number in
                    let thread = try context.insert(MailThread.self)
                    thread.title = "t\(number)"
                    for size in 0..<messageCount {
                        let message = try context.insert(MailMessage.self)
                        (message.size, message.isRead, message.thread) = (Int64(size + 1), number % 2 == 0, thread)
                    }
                    return thread.objectID
                }
            }
            let result = try await body(container, mail, threads)
            try await container.close()
            return result
        }

        /// What the statements cost that were run since the last call, and read what the list is made of.
        private func takeCost() -> Cost {
            let reads = traces.value.filter { trace in
                !trace.isWriting && ["Thread", "Message"].contains { trace.sql.contains($0) }
            }
            traces.value = []
            return reads.reduce(into: Cost()) { cost, trace in
                cost.statements += 1
                cost.rows += trace.rowCount
                cost.steps += trace.stepCount
            }
        }

        func costOfAFetch() async throws -> Cost {
            try await with { container, _, _ in
                _ = takeCost()
                _ = try container.main.fetch(request)
                return takeCost()
            }
        }

        /// What the list reads after each of some changes.
        func costs() async throws -> [Cost] {
            try await with { container, mail, threads in
                let delegate = RecordingDelegate()
                try mail.register(delegate, dataKey: "list", request)
                var costs: [Cost] = []
                for change in Change.allCases {
                    // It blocks main, so the list follows once the save is in the store.
                    try mail.performAndWait { try change.make($0, threads) }
                    _ = takeCost()
                    container.mainTier.merge()
                    await container.mainTier.waitForLists()
                    costs.append(takeCost())
                    let shown = mail.allObjects(dataKey: "list", as: MailThread.self).map(\.title)
                    #expect(try container.main.fetch(request).map(\.title) == shown, "\(change)")
                    #expect(mail.lastUpdateReason(dataKey: "list")?.requeriesStore == false)
                }
                #expect(delegate.problems == [])
                return costs
            }
        }
    }

    private enum Change: CaseIterable {
        case value, otherValue, insertion, move, unlinking, deletion

        func make(_ context: PrivateContext, _ threads: [ManagedObjectID]) throws {
            func thread(_ index: Int) throws -> MailThread {
                try #require(try context.object(MailThread.self, id: threads[index]))
            }
            func message(_ index: Int) throws -> MailMessage {
                try #require(try thread(index).messages.sorted(by: [.ascending(\.size)]).first)
            }
            switch self {
            case .value: try message(3).isRead.toggle()
            case .otherValue: try message(4).size += 100
            case .insertion: try context.insert(MailMessage.self).thread = thread(5)
            case .move: try message(6).thread = thread(7)
            case .unlinking: try message(8).thread = nil
            case .deletion: context.delete(try message(9))
            }
        }
    }
}
