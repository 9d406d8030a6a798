internal import Foundation
internal import ManagedModel

/// A row that any encoder can write, and that people can read and edit. It contains the values by column name, without nulls
/// and transient attributes.
///
/// Booleans are encoded as booleans. Dates are ISO 8601 strings, such as `2026-01-31T12:00:00.25Z`. If the string would not be
/// exact, a date is a number instead: the seconds since 2001. Blobs are Base64 strings. Numbers that JSON cannot represent,
/// such as infinity, are strings.
///
/// ```swift
/// let data = try JSONEncoder().encode(CodableRow(row, layout))
/// let copy = try layout.row(JSONDecoder().decode(CodableRow.self, from: data))
/// ```
public struct CodableRow: Codable, Sendable {
    fileprivate var values: [String: CodableValue] = [:]

    /// Makes a codable row.
    ///
    /// ```swift
    /// let data = try JSONEncoder().encode(CodableRow(row, layout))
    /// ```
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - layout: The layout of the row's entity. Passing a row of another entity is a programmer error and traps.
    public init(_ row: RowSnapshot, _ layout: EntityLayout) {
        for (column, value) in zip(layout.columns, layout.values(of: row)) where column.isStored {
            values[column.name] = column.codable(value)
        }
    }

    /// Decodes a row that ``encode(to:)`` or a person has written.
    ///
    /// ```swift
    /// let coded = try JSONDecoder().decode(CodableRow.self, from: data)
    /// ```
    ///
    /// - Throws: The errors of the decoder.
    public init(from decoder: any Decoder) throws {
        values = try decoder.singleValueContainer().decode([String: CodableValue].self)
    }

    /// Encodes the row as a flat dictionary.
    ///
    /// ```swift
    /// let data = try JSONEncoder().encode(CodableRow(row, layout))
    /// ```
    ///
    /// - Throws: The errors of the encoder.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(values)
    }
}

extension EntityLayout {
    /// Makes a row from a decoded row. Values of unknown columns are ignored.
    ///
    /// ```swift
    /// let row = try layout.row(JSONDecoder().decode(CodableRow.self, from: data))
    /// ```
    ///
    /// - Parameter coded: The decoded row.
    /// - Throws: `storeCorrupt` if a value does not have its column's type; `valueTooLarge`.
    public func row(_ coded: CodableRow) throws(DataSourceError) -> RowSnapshot {
        var values: [RowValue] = []
        for column in columns {
            guard column.isStored, let coded = coded.values[column.name] else {
                values.append(.null)
                continue
            }
            guard let value = column.value(coded) else { throw wrongKindError(coded, column) }
            values.append(value)
        }
        return try row(values)
    }

    private func wrongKindError(_ value: CodableValue, _ column: ColumnLayout) -> DataSourceError {
        let form = column.attribute?.type.jsonKind ?? "a whole number"
        return DataSourceError(
            .storeCorrupt,
            "The \(column.name) of an object of \(name) is stored as \(value.text.shortened), but has to be \(form). Restore the store from a copy, or correct that value.",
            entityName: name, attributeName: column.name)
    }
}

private enum CodableValue: Codable {
    case flag(Bool)
    case integer(Int64)
    case real(Double)
    case text(String)

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let flag = try? value.decode(Bool.self) {
            self = .flag(flag)
        } else if let integer = try? value.decode(Int64.self) {
            self = .integer(integer)
        } else if let text = try? value.decode(String.self) {
            self = .text(text)
        } else {
            self = .real(try value.decode(Double.self))
        }
    }

    var text: String {
        switch self {
        case .flag(let flag): "\(flag)"
        case .integer(let integer): "\(integer)"
        case .real(let real): "\(real)"
        case .text(let text): "\"\(text)\""
        }
    }

    func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .flag(let flag): try value.encode(flag)
        case .integer(let integer): try value.encode(integer)
        case .real(let real): try value.encode(real)
        case .text(let text): try value.encode(text)
        }
    }
}

extension ColumnLayout {
    fileprivate func codable(_ value: RowValue) -> CodableValue? {
        switch (value, attribute?.type) {
        case (.null, _): nil
        case (.integer(let number), .boolean) where number == 0 || number == 1: .flag(number == 1)
        case (.integer(let number), _): .integer(number)
        case (.real(let seconds), .date) where DateText.exact(seconds) != nil: DateText.exact(seconds).map { .text($0) }
        case (.real(let real), _): real.isFinite ? .real(real) : .text("\(real)")
        case (.text(let text), _): .text(text)
        case (.blob(let bytes), _): .text(Data(bytes).base64EncodedString())
        }
    }

    fileprivate func value(_ value: CodableValue) -> RowValue? {
        switch (value, storage) {
        case (.flag(let flag), .integer): .integer(flag ? 1 : 0)
        case (.integer(let integer), .integer): .integer(integer)
        case (.integer(let integer), .real): .real(Double(integer))
        case (.real(let real), .real): .real(real)
        case (.text(let text), .real): real(text).map { .real($0) }
        case (.text(let text), .text): .text(text)
        case (.text(let text), .blob): Data(base64Encoded: text).map { .blob(Array($0)) }
        default: nil
        }
    }

    private func real(_ text: String) -> Double? {
        if attribute?.type == .date, let seconds = DateText.seconds(text) { return seconds }
        return ["inf", "-inf", "nan"].contains(text) ? Double(text) : nil
    }
}

/// Removal of unused space. When a value grows, its new bytes are written at the end of the buffer, and the space of its old
/// bytes stays unused.
extension RowSnapshot {
    /// Removes the unused space of a large row if there is more unused space than used space.
    package mutating func compact(_ layout: EntityLayout) {
        guard wordCount > RowSnapshot.headWords(columnCount) + 64 else { return }
        let live = liveByteCount(layout) / 8
        guard wordCount > live * 2 else { return }
        var compact = RowSnapshot(columnCount: columnCount, spareWords: live - RowSnapshot.headWords(columnCount))
        for (column, columnLayout) in layout.columns.enumerated() where !isNull(column) {
            switch columnLayout.storage {
            case .integer, .real: compact.setWord(word(column), column)
            case .text, .blob: withBytes(column) { compact.setBytes($0, column) }
            }
        }
        self = compact
    }

    /// Returns the size of the row without its unused space, in bytes.
    package func liveByteCount(_ layout: EntityLayout) -> Int {
        var words = RowSnapshot.headWords(columnCount)
        for (column, columnLayout) in layout.columns.enumerated() where !isNull(column) {
            switch columnLayout.storage {
            case .integer, .real: break
            case .text, .blob: words += withBytes(column) { ($0.count + 7) / 8 }
            }
        }
        return words * 8
    }
}

/// Receives reports of stored values that do not have their attribute's type. Reading such an attribute returns another value.
package final class DamagedValues: Sendable {
    package typealias Handler = @Sendable (EntityLayout, _ column: Int) -> Void

    private let handler = Guarded<Handler?>(nil)

    /// Sets the handler. It may be called several times for the same value.
    package func connect(_ handler: @escaping Handler) {
        self.handler.withLock { $0 = handler }
    }

    func record(_ layout: EntityLayout, _ column: Int) {
        handler.withLock { $0 }?(layout, column)
    }
}

extension EntityLayout {
    /// Reports that a stored value does not have its attribute's type.
    package func recordDamage(_ column: Int) { damage.record(self, column) }
}

extension DataSourceError {
    package init(damagedColumn column: Int, _ layout: EntityLayout) {
        let attribute = layout.columns[column].name
        let isTransformable = layout.columns[column].attribute?.type == .transformable
        let message =
            isTransformable
            ? "An object of \(layout.name) has a stored \(attribute) that cannot be decoded as the type of the attribute. "
                + "The attribute reads as nil. If an earlier release of the app stored values of another type, decode that "
                + "type, too, or add a new attribute for the new type. Otherwise save the object again, or restore the store."
            : "An object of \(layout.name) has an invalid stored value in \(attribute). The attribute reads as its default "
                + "value. This library stores no such values. Save the object again, or restore the store."
        self.init(.damagedValue, message, entityName: layout.name, attributeName: attribute)
    }
}
