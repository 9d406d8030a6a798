import CoreDataSource
import Foundation
import RowStore
import TestSupport
import Testing

/// What it writes to insert objects into an ordered relationship, counted by the store.
@MainActor struct OrderedInsertCostTests {
    enum Place: CaseIterable {
        /// Before and after the same two objects, in the direction of either.
        case before, after
        /// Wherever the middle is by then.
        case middle

        func index(_ count: Int) -> Int {
            switch self {
            case .before: min(5, count)
            case .after: max(0, count - 5)
            case .middle: count / 2
            }
        }

        /// For each insert. Before or after one object there is room at one side.
        var mostRows: Double { self == .middle ? 4.5 : 1.25 }
    }

    @Test(arguments: Place.allCases)
    func eachOfTenThousandInsertsAtOnePlaceWritesAConstantNumberOfRows(place: Place) async throws {
        let rows = try await rowsWritten(saves: 100, insertsOfEach: 100, at: place)
        #expect(rows >= 10_000 && Double(rows) <= 10_000 * place.mostRows, "\(rows)")
    }

    @Test(arguments: Place.allCases)
    func eachInsertWithASaveOfItsOwnWritesAConstantNumberOfRows(place: Place) async throws {
        let rows = try await rowsWritten(saves: 500, insertsOfEach: 1, at: place)
        #expect(rows >= 500 && Double(rows) <= 500 * place.mostRows, "\(rows)")
    }

    /// Inserts attachments into a letter, and expects their order.
    private func rowsWritten(saves: Int, insertsOfEach count: Int, at place: Place) async throws -> Int {
        let written = Shared(0)
        let directory = try TestSupport.TemporaryDirectory()
        let configuration = PersistentContainer.Configuration(
            synchronous: .normal,
            trace: { trace in
                if trace.sql.contains("\"Attachment\"") && trace.isWriting { written.update { $0 += trace.rowCount } }
            })
        let container = try await PersistentContainer(
            model: .graph, store: .sqlite(directory.url.appending(path: "store.sqlite")), configuration: configuration)
        let source = try container.dataSource(GraphDataSource.self)
        var expected: [String] = []
        for save in 0..<saves {
            let keys = (0..<count).map { "\(save).\($0)" }
            try await source.perform { context in
                let letter = try context.letter("a")
                let new = try keys.map { key in
                    let attachment = try context.insert(Attachment.self)
                    attachment.key = key
                    return attachment
                }
                var attachments = letter.attachments
                attachments.insert(contentsOf: new, at: place.index(attachments.count))
                letter.attachments = attachments
            }
            expected.insert(contentsOf: keys, at: place.index(expected.count))
        }
        #expect(try container.main.first(Letter.self)?.attachments.map(\.key) == expected)
        try await container.close()
        return written.value
    }
}
