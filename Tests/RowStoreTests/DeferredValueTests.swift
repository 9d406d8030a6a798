import ManagedModel
import RowStore
import Testing

/// A row whose large values stayed in the store.
struct DeferredValueTests {
    private let layout = ModelLayout(
        ManagedObjectModel(
            name: "Deferred",
            entities: [
                EntityDescription(
                    name: "Sound",
                    attributes: [
                        AttributeDescription(name: "data", type: .binary, allowsExternalBinaryDataStorage: true),
                        AttributeDescription(name: "list", type: .transformable, allowsExternalBinaryDataStorage: true),
                        AttributeDescription(name: "near", type: .binary),
                        AttributeDescription(
                            name: "passing", type: .binary, isTransient: true, allowsExternalBinaryDataStorage: true),
                        AttributeDescription(name: "text", type: .string, allowsExternalBinaryDataStorage: true),
                    ])
            ])
    ).entities[0]

    @Test func onlyStoredBlobsWithTheFlagMayBeDeferred() {
        #expect(layout.deferredColumns == [0, 1])
    }

    @Test func aValueThatIsDeferredIsNeitherNullNorRead() {
        var row = RowSnapshot(columnCount: 5)
        #expect(!layout.hasDeferredValues(row) && !row.isDeferred(0))
        row.setDeferred(byteCount: 1 << 20, 0)
        row.setText("text", 4)
        #expect(layout.hasDeferredValues(row) && row.isDeferred(0) && !row.isDeferred(4))
        #expect(!row.isNull(0) && row.blobByteCount(0) == 1 << 20 && row.byteCount < 100)
        let bare = layout.withoutDeferredValues(row)
        #expect(bare.isNull(0) && bare.text(4) == "text" && row.isDeferred(0))
    }

    @Test func bytesReplaceADeferredValue() {
        var row = RowSnapshot(columnCount: 5)
        row.setDeferred(byteCount: 1 << 20, 0)
        row.setValue(.blob([1, 2, 3]), 0)
        #expect(!row.isDeferred(0) && row.value(0, .blob) == .blob([1, 2, 3]))
    }

    @Test func readingTheBytesOfAValueThatIsDeferredTraps() async {
        await #expect(processExitsWith: .failure) {
            var row = RowSnapshot(columnCount: 1)
            row.setDeferred(byteCount: 20_000, 0)
            _ = row.value(0, .blob)
        }
    }

    @Test func comparingAValueThatIsDeferredTraps() async {
        await #expect(processExitsWith: .failure) {
            var row = RowSnapshot(columnCount: 1)
            row.setDeferred(byteCount: 20_000, 0)
            var whole = RowSnapshot(columnCount: 1)
            whole.setValue(.blob([1]), 0)
            _ = whole.isEqual(to: row, column: 0, storage: .blob)
        }
    }
}
