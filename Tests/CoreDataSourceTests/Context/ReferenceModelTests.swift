import CoreDataSource
import Foundation
import RowStore
import Testing
import TestSupport

/// Random operations, held against a dictionary that does the same.
@MainActor
struct ReferenceModelTests {
    /// What a sender holds.
    private struct Content: Equatable {
        var number: Int64
        var text: String?
    }

    private struct Case: Sendable, CustomTestStringConvertible {
        let kind: StoreKind
        let limit: Int
        let seed: UInt64
        var testDescription: String { "\(kind), limit \(limit), seed \(seed)" }
    }

    private nonisolated static let cases = StoreKind.allCases.flatMap { kind in
        [0, 1_500, 300_000].flatMap { limit in (1...2).map { Case(kind: kind, limit: limit, seed: UInt64($0)) } }
    }

    @Test(arguments: cases)
    private func everyOperationDoesWhatItDoesToADictionary(test: Case) async throws {
        var random = SeededRandom(seed: test.seed)
        let directory = try TemporaryDirectory()
        var container = try await open(test, directory.store)
        var senders = try container.dataSource(SenderDataSource.self)
        var expected: [String: Content] = [:]
        for step in 0..<150 {
            if test.kind == .sqlite, step % 50 == 49 {
                try await container.close()
                container = try await open(test, directory.store)
                senders = try container.dataSource(SenderDataSource.self)
            }
            let level: SaveLevel = random.next(below: 3) == 0 ? .main : .store
            let edits = (0..<Int.random(in: 1...6, using: &random)).map { _ in Edit(&random) }
            let isRolledBack = random.next(below: 6) == 0
            if random.next(below: 8) == 0 {
                try await sync(senders, &expected, level, &random)
            } else {
                var after = expected
                for edit in edits { edit.apply(to: &after) }
                do {
                    try await senders.perform(waitFor: level) { [state = expected, edits] context in
                        var state = state
                        for edit in edits {
                            try edit.apply(in: context)
                            edit.apply(to: &state)
                            try Self.compare(state, edit, in: context)
                        }
                        if isRolledBack { throw Poison() }
                    }
                    expected = after
                } catch is Poison {}
            }
            let shown = try senders.fetch(Sender.self, order: [SortDescriptor(\.key)])
            #expect(shown.map(\.key) == expected.keys.sorted(), "step \(step)")
            #expect(shown.allSatisfy { expected[$0.key] == Content(number: $0.number, text: $0.text) }, "step \(step)")
        }
        try await container.close()
    }

    /// Asks the context in several ways in the middle of a batch.
    private nonisolated static func compare(
        _ state: [String: Content], _ edit: Edit, in context: PrivateContext
    ) throws {
        let few = \Sender.number < 3
        let wanted = state.filter { $0.value.number < 3 }.keys.sorted()
        let found = try context.fetch(Sender.self, where: few, order: [SortDescriptor(\.key)]).map(\.key)
        #expect(found == wanted, "after \(edit)")
        let window = try context.fetch(
            Sender.self, where: few, order: [SortDescriptor(\.key, order: .reverse)], limit: 2, offset: 1
        ).map(\.key)
        #expect(window == Array(wanted.reversed().dropFirst().prefix(2)), "after \(edit)")
        #expect(try context.count(Sender.self, where: few) == wanted.count, "after \(edit)")
        #expect(try context.count(Item.self) == state.count, "after \(edit)")
        let rest = try context.fetch(Item.self, order: [SortDescriptor(\.key)], offset: 1)
        #expect(rest.count == max(0, state.count - 1), "after \(edit)")
        for key in ["k1", "k2"] {
            #expect(try context.first(Sender.self, where: \.key, equals: key)?.number == state[key]?.number)
        }
    }

    private func open(_ test: Case, _ url: URL) async throws -> PersistentContainer {
        try await PersistentContainer(
            model: .chat, store: test.kind == .sqlite ? .sqlite(url) : .inMemory,
            configuration: .init(synchronous: .normal, registeredObjectByteLimit: test.limit))
    }

    private func sync(
        _ senders: SenderDataSource, _ expected: inout [String: Content], _ level: SaveLevel,
        _ random: inout SeededRandom
    ) async throws {
        let bound = Int64(random.next(below: 6))
        let list = (0..<random.next(below: 8)).map { _ in
            ItemData(key: Edit.key(&random), number: Int64(random.next(below: 6)), text: nil)
        }
        var after = expected.filter { $0.value.number < bound }
        for item in list { after[item.key] = Content(number: item.number, text: item.text) }
        let scope = \Sender.number >= bound
        let plan = try await senders.planSync(list, entity: Sender.self, scope: scope, options: .allowsEmpty)
        let report = try await senders.sync(
            list, entity: Sender.self, scope: scope, options: .allowsEmpty, waitFor: level)
        #expect(plan == report)
        #expect(report.inserted == after.keys.count { expected[$0] == nil })
        #expect(report.deleted == expected.keys.count { after[$0] == nil })
        #expect(report.updated == after.count { key, content in expected[key].map { $0 != content } ?? false })
        expected = after
    }

    /// One edit of a sender.
    private enum Edit: Sendable {
        case put(String, Content)
        case delete(String)
        /// Gives an object the key of another, which is deleted, or exchanges them.
        case rename(String, String, isExchange: Bool)
        case deleteAndInsert(String, Content)

        static func key(_ random: inout SeededRandom) -> String { "k\(random.next(below: 12))" }

        init(_ random: inout SeededRandom) {
            let key = Edit.key(&random)
            let content = Content(
                number: Int64(random.next(below: 6)),
                text: random.next(below: 3) == 0 ? nil : String(repeating: "t", count: random.next(below: 40)))
            switch random.next(below: 8) {
            case 0, 1: self = .delete(key)
            case 2, 3: self = .rename(key, Edit.key(&random), isExchange: random.next(below: 2) == 0)
            case 4: self = .deleteAndInsert(key, content)
            default: self = .put(key, content)
            }
        }

        func apply(to state: inout [String: Content]) {
            switch self {
            case .put(let key, let content): state[key] = content
            case .delete(let key): state[key] = nil
            case .rename(let one, let other, let isExchange):
                guard one != other, let content = state[one] else { return }
                let old = state[other]
                state[other] = content
                state[one] = isExchange ? old : nil
            case .deleteAndInsert(let key, let content): if state[key] != nil { state[key] = content }
            }
        }

        func apply(in context: PrivateContext) throws {
            switch self {
            case .put(let key, let content): try put(key, content, in: context)
            case .delete(let key): try find(key, in: context).map { context.delete($0) }
            case .rename(let one, let other, let isExchange):
                guard one != other, let object = try find(one, in: context) else { return }
                if let old = try find(other, in: context) {
                    if isExchange { old.key = one } else { context.delete(old) }
                }
                object.key = other
            case .deleteAndInsert(let key, let content):
                guard let old = try find(key, in: context) else { return }
                context.delete(old)
                try put(key, content, in: context)
            }
        }

        private func find(_ key: String, in context: PrivateContext) throws -> Sender? {
            try context.first(Sender.self, where: \.key, equals: key)
        }

        private func put(_ key: String, _ content: Content, in context: PrivateContext) throws {
            let sender = try context.findOrInsert(Sender.self, where: \.key, equals: key)
            sender.number = content.number
            sender.text = content.text
        }
    }
}
