import RowStore
import SQLiteStore
import StoreTestModel
import Testing

struct RoundTripTests {
    @Test func storedBytesThatAreNotUTF8AreRepairedWhenRead() throws {
        let folder = try TemporaryFolder()
        try SQLiteStore.open(.test(folder)).close()
        do {
            let raw = try RawDatabase(folder.store)
            try raw.run("INSERT INTO Item (_key, text, code) VALUES (1, CAST(x'ff41' AS TEXT), 7)")
        }
        let store = try SQLiteStore.open(.test(folder))
        let row = try #require(try store.row(1))
        #expect(row.text(TestModel.text) == "\u{FFFD}A")
        #expect(row.text(TestModel.code) == "7")
        store.close()
    }
}
