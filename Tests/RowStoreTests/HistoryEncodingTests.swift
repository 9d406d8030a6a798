import ManagedModel
import RowStore
import Testing

/// The words of records, with large values that an update has not changed.
struct HistoryEncodingTests {
    private static func model(_ name: String = "data", hasTransient: Bool = true) -> ManagedObjectModel {
        var attributes = [
            AttributeDescription(
                name: name, type: .binary, isOptional: true, allowsExternalBinaryDataStorage: true,
                renamingIdentifier: name == "data" ? nil : "data"),
            AttributeDescription(name: "near", type: .binary, isOptional: true),
            AttributeDescription(name: "text", type: .string, isOptional: true),
        ]
        if hasTransient {
            attributes.append(AttributeDescription(name: "zap", type: .string, isOptional: true, isTransient: true))
        }
        return ManagedObjectModel(name: "Sounds", entities: [EntityDescription(name: "Sound", attributes: attributes)])
    }

    private static let count = RowSnapshot.longestInlineValue + 1

    /// An update that changes only the text.
    private func words(_ layout: ModelLayout) throws -> [ContiguousArray<UInt64>] {
        var previous = RowSnapshot(columnCount: layout.entities[0].columns.count)
        previous.setValue(.blob(Array(repeating: 1, count: Self.count)), 0)
        previous.setValue(.blob([2]), 1)
        previous.setText("old", 2)
        var row = previous
        row.setText("new", 2)
        var columns = ColumnSet()
        columns.insert(2)
        var changes = EntityChanges(entity: 0)
        changes.updated = [UpdatedRow(key: 5, row: row, previous: previous, columns: columns)]
        var parts: [ContiguousArray<UInt64>] = []
        HistoryEncoding(layout).forEachPart(of: ChangeSet(entities: [changes])) { words, _ in parts.append(words) }
        return parts
    }

    private func expectOmitted(_ row: RowSnapshot, text: String) {
        #expect(row.isDeferred(0) && row.blobByteCount(0) == Self.count)
        #expect(row.value(1, .blob) == .blob([2]) && row.text(2) == text)
    }

    @Test(arguments: [false, true]) func unchangedLargeValuesAreNotInTheWords(hasTransient: Bool) throws {
        let layout = ModelLayout(Self.model(hasTransient: hasTransient))
        let words = try words(layout)
        #expect(words.count == 1 && words[0].count < 100)
        let read = try #require(try HistoryEncoding(layout).changes(words[0]) { _ in nil })
        let update = try #require(read.entities.first?.updated.first)
        expectOmitted(update.previous, text: "old")
        expectOmitted(update.row, text: "new")
    }

    @Test func aRenamedLargeValueIsStillMissing() throws {
        let (old, new) = (ModelLayout(Self.model()), ModelLayout(Self.model("adat")))
        let names = HistoryNames(old)
        let read = try #require(try HistoryEncoding(new).changes(words(old)[0]) { _ in names })
        let update = try #require(read.entities.first?.updated.first)
        expectOmitted(update.previous, text: "old")
        expectOmitted(update.row, text: "new")
    }

    /// The attribute no longer lies apart, so a row without it would look damaged.
    @Test func aMissingValueOfAnotherAttributeIsNull() throws {
        let layout = ModelLayout(Self.model())
        var model = Self.model()
        model.entities[0].attributes[0].allowsExternalBinaryDataStorage = false
        let names = HistoryNames(layout)
        let read = try #require(try HistoryEncoding(ModelLayout(model)).changes(words(layout)[0]) { _ in names })
        let update = try #require(read.entities.first?.updated.first)
        #expect(update.previous.isNull(0) && update.row.isNull(0) && update.row.text(2) == "new")
    }

    /// The feed of a shared store has all values.
    @Test func aFeedWithoutValuesIsDamaged() throws {
        let layout = ModelLayout(Self.model())
        let words = try words(layout)[0]
        #expect(words.withUnsafeBufferPointer(ChangeEncoding(layout).changes) == nil)
    }
}
