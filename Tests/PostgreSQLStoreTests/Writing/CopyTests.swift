#if PostgreSQL
import PostgreSQLStore
import RowStore
import StoreTestModel
import TestSupport
import Testing

/// Saves of so many new rows that they are sent by COPY.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, Comment(rawValue: PostgreSQLServer.comment)))
struct CopyTests {
    private func rows(_ keys: ClosedRange<Int64>, code: (Int64) -> String = { "code \($0)" }) -> [StoredRow] {
        keys.map { StoredRow(key: $0, row: TestModel.row(code: code($0))) }
    }

    @Test func everyValueArrivesAsItWas() throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        let integers: [RowValue] = [.null, .integer(.min), .integer(-1), .integer(0), .integer(.max)]
        let reals: [RowValue] = [.null, .real(-.infinity), .real(-0.0), .real(.leastNonzeroMagnitude), .real(1.5)]
        let texts: [RowValue] = [.null, .text(""), .text("é\t\n\\N"), .text(String(repeating: "🦊", count: 200))]
        let blobs: [RowValue] = [.null, .blob([]), .blob([0, 255, 0]), .blob(Array(repeating: 10, count: 3000))]
        var written: [StoredRow] = []
        for index in 0..<2000 {
            let code: RowValue = index % 3 == 0 ? .null : .text("code \(index)")
            // Both together are unique.
            let (integer, text) = index % 2 == 0 ? (integers[index / 2 % 5], .null) : (.null, texts[index / 2 % 4])
            let row = TestModel.row(integer, reals[index / 5 % 5], text, blobs[index / 4 % 4], .null, code)
            written.append(StoredRow(key: Int64(index) + 1, row: row))
        }
        try store.write([.of(insert: written)])
        let found = try store.rows(RowQuery(entity: TestModel.item))
        #expect(found.map(\.key) == written.map(\.key))
        let columns = TestModel.layout.entities[TestModel.item].columns
        for (found, written) in zip(found, written) {
            for (column, description) in columns.enumerated() {
                let isSame =
                    found.row.value(column, description.storage) == written.row.value(column, description.storage)
                #expect(isSame, "\(description.name) of row \(found.key)")
            }
        }
        store.close()
    }

    @Test func manyNewRowsAreCopiedAndReported() throws {
        let place = try FailurePlace()
        var options = place.options(isDirect: true)
        let traces = Traces()
        options.tracing = traces.tracing
        let store = try PostgreSQLStore.open(options)
        try store.write([.of(insert: rows(1...1500))])
        #expect(traces.all("COPY").map(\.rowCount) == [1500])
        #expect(traces.all("COPY").map(\.isWriting) == [true])
        store.close()
    }

    /// Hundreds of kilobytes are on their way when it is found.
    @Test func aStringThatCannotBeStoredLeavesNothing() throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        let refused = ChangeSet.of(insert: rows(1...20_000) { $0 == 15_000 ? "a\0b" : "code \($0)" })
        let error = try #require(try store.commit([refused]).refused[0])
        #expect(error.code == .validationFailed && error.attributeName == "code")
        #expect(try place.keys() == [])
        try store.write([FailurePlace.save(1)])
        #expect(try place.keys() == [1])
        store.close()
    }

    @Test(arguments: ["code 7", "code 1900"])
    func aValueThatIsThereAlreadyIsNamed(code: String) throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        try store.write([.of(insert: [StoredRow(key: 9000, row: TestModel.row(code: code))])])
        let error = try #require(try store.commit([.of(insert: rows(1...2000))]).refused[0])
        #expect(error.code == .uniquenessViolated && error.entityName == "Item" && error.attributeName == "code")
        #expect(try store.commit([.of(insert: rows(8000...10_000))]).refused[0]?.code == .uniquenessViolated)
        #expect(try place.keys() == [9000])
        store.close()
    }

    /// The save that was refused does not take the one beside it along.
    @Test func aRefusedCopyOfAGroupLeavesTheOtherSave() throws {
        let place = try FailurePlace()
        let store = try place.open(isDirect: true)
        try store.write([FailurePlace.save(5000)])
        var (first, second) = (
            ChangeSet.of(insert: rows(1...2000) { $0 == 2 ? "5000" : "code \($0)" }),
            ChangeSet.of(insert: rows(6001...8000))
        )
        (first.origin, second.origin) = (1, 2)
        #expect(try store.commit([first, second]).refused.mapValues(\.code) == [0: .uniquenessViolated])
        #expect(try place.keys() == [5000] + Array(6001...8000))
        store.close()
    }

    @Test(arguments: [false, true])
    func aConnectionThatIsCutInACopyLeavesNothing(isAfterwards: Bool) throws {
        let place = try FailurePlace()
        let store = try place.open()
        let set = ChangeSet.of(insert: rows(1...20_000))
        let cut = isAfterwards ? place.proxy.cutReply(to: "COPY") : place.proxy.cutBefore("COPY")
        let failure = code { try store.write([set]) }
        #expect(cut.isReached)
        #expect(failure == nil || failure == .storeUnavailable)
        #expect(try place.keys().count == (failure == nil ? 20_000 : 0))
        if failure != nil { try store.write([set]) }
        #expect(try place.keys() == Array(1...20_000))
        store.close()
    }
}
#endif
