internal import Foundation
internal import ManagedModel

/// A row in a form that any encoder can write, and that people can read and edit: the values by the names of their columns,
/// without nulls and transient attributes.
///
/// Booleans are booleans, dates are strings such as `2026-01-31T12:00:00.25Z`, and blobs are strings in Base64. Numbers that JSON
/// does not have, such as infinity, are strings, too. A date that such a string could not represent exactly is a number: the seconds
/// since 2001.
///
/// ```swift
/// let data = try JSONEncoder().encode(CodableRow(row, layout))
/// let copy = try layout.row(JSONDecoder().decode(CodableRow.self, from: data))
/// ```
public struct CodableRow: Codable, Sendable {
    fileprivate var values: [String: CodableValue] = [:]

    /// Makes one of a row.
    ///
    /// - Parameters:
    ///   - row: The row.
    ///   - layout: Its entity. A row of another entity is a programmer error and traps.
    public init(_ row: RowSnapshot, _ layout: EntityLayout) {
        for (column, value) in zip(layout.columns, layout.values(of: row)) where column.isStored {
            values[column.name] = column.codable(value)
        }
    }

    /// Reads what ``encode(to:)`` wrote, or a person.
    ///
    /// - Throws: What the decoder throws.
    public init(from decoder: any Decoder) throws {
        values = try decoder.singleValueContainer().decode([String: CodableValue].self)
    }

    /// Writes a flat dictionary.
    ///
    /// - Throws: What the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(values)
    }
}

extension EntityLayout {
    /// Makes a row of one that was decoded. Values of other columns are ignored.
    ///
    /// - Parameter coded: The row.
    /// - Throws: `storeCorrupt` if a value is not of its column's type; `valueTooLarge`.
    public func row(_ coded: CodableRow) throws(DataSourceError) -> RowSnapshot {
        var values: [RowValue] = []
        for column in columns {
            let coded = column.isStored ? coded.values[column.name] : nil
            // A value that cannot be converted becomes one that does not fit, so that the error names its column.
            values.append(coded.map { column.value($0) ?? column.misfit } ?? .null)
        }
        return try row(values)
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
        case (.real(let seconds), .date) where string(ofDate: seconds) != nil: string(ofDate: seconds).map { .text($0) }
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
        case (.text(let text), .real): (date(ofString: text) ?? Double(text)).map { .real($0) }
        case (.text(let text), .text): .text(text)
        case (.text(let text), .blob): Data(base64Encoded: text).map { .blob(Array($0)) }
        default: nil
        }
    }

    /// A value that does not fit the column.
    fileprivate var misfit: RowValue { storage == .text ? .integer(0) : .text("") }

    /// Nil for a date that would be another one when it is read.
    private func string(ofDate seconds: Double) -> String? {
        guard seconds.magnitude < 1e11 else { return nil }
        let whole = seconds.rounded(.down)
        let fraction = "\(seconds - whole)".dropFirst()
        let text = Date(timeIntervalSinceReferenceDate: whole).formatted(.iso8601).dropLast() + fraction + "Z"
        return date(ofString: String(text)) == seconds ? String(text) : nil
    }

    private func date(ofString text: String) -> Double? {
        guard let point = text.firstIndex(of: "."), let fraction = Double("0" + text[point...].dropLast()),
            let whole = try? Date(text[..<point] + "Z", strategy: .iso8601)
        else { return nil }
        return whole.timeIntervalSinceReferenceDate + fraction
    }
}

/// Values that grow are written at the end of the buffer, and the space of the old ones stays unused.
extension RowSnapshot {
    /// Removes unused space, if there is more of it than used space.
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

    /// The bytes that the row would take without unused space.
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

/// Receives reports that a stored value does not have its attribute's type, and reads as another value.
package final class DamagedValues: Sendable {
    package typealias Handler = @Sendable (EntityLayout, _ column: Int) -> Void

    private let handler = Guarded<Handler?>(nil)

    /// Sets the listener. The same value may be reported repeatedly.
    package func connect(_ handler: @escaping Handler) {
        self.handler.withLock { $0 = handler }
    }

    func note(_ layout: EntityLayout, _ column: Int) {
        handler.withLock { $0 }?(layout, column)
    }
}

extension EntityLayout {
    /// Reports that a stored value does not have its attribute's type.
    package func noteDamage(_ column: Int) { damage.note(self, column) }
}

extension DataSourceError {
    package init(damagedColumn column: Int, _ layout: EntityLayout) {
        let attribute = layout.columns[column].name
        let isTransformable = layout.columns[column].attribute?.type == .transformable
        let message =
            isTransformable
            ? "An object of \(layout.name) has a stored \(attribute) that cannot be decoded as the type of the attribute, and reads as "
                + "nil. If a release of the app has changed that type, decode what earlier ones have saved, or give the new type to a "
                + "new attribute. Otherwise another program or a disk failure has damaged it."
            : "An object of \(layout.name) has a stored \(attribute) with an invalid value, which reads as the default "
                + "value. Another program or a disk failure has damaged it. Save the object again, or restore the store."
        self.init(.damagedValue, message, entityName: layout.name, attributeName: attribute)
    }
}
