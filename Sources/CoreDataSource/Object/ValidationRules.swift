internal import Foundation
internal import ManagedModel
internal import RowStore

/// The rules of the model for the rows of one entity.
struct ValidationRules {
    /// The columns of attributes that must have a value.
    private let required: [Int]
    private let requiredSet: ColumnSet
    /// The columns of attributes that have a rule for their values, such as a range or a pattern.
    private let checked: [(column: Int, rule: AttributeRule)]
    private let defaults: [(column: Int, value: RowValue)]

    init(_ layout: EntityLayout) {
        let attributes = layout.columns.enumerated().compactMap { index, column in
            column.attribute.map { (column: index, attribute: $0) }
        }
        required = attributes.filter { !$0.attribute.isOptional && $0.attribute.derivationExpression == nil }
            .map(\.column)
        requiredSet = required.reduce(into: ColumnSet()) { $0.insert($1) }
        checked = attributes.compactMap { column, attribute in
            AttributeRule(attribute, layout.columns[column].storage).map { (column, $0) }
        }
        defaults = attributes.compactMap { column, attribute in
            if layout.calculatedPaths[column] != nil { return nil }
            return RowValue(defaultOf: attribute).map { (column, $0) }
        }
    }

    /// Returns the row of a new object, with the default values of the model.
    func template(_ layout: EntityLayout) -> RowSnapshot {
        var row = RowSnapshot(columnCount: layout.columns.count)
        for (column, value) in defaults { row.setValue(value, column) }
        return row
    }

    /// Checks a row before it is saved, and returns an error for each rule that the row breaks.
    func failures(_ row: RowSnapshot, _ layout: EntityLayout) -> [DataSourceError] {
        var failures: [DataSourceError] = []
        if !row.hasValues(in: requiredSet) {
            for column in required where row.isNull(column) {
                failures.append(
                    failure(layout, column, "is required but has no value. Set the attribute before the save."))
            }
        }
        for (column, rule) in checked where !row.isNull(column) {
            if let problem = rule.problem(row, column) { failures.append(failure(layout, column, problem)) }
        }
        return failures
    }

    private func failure(_ layout: EntityLayout, _ column: Int, _ problem: String) -> DataSourceError {
        DataSourceError(
            .validationFailed, "\(layout.name).\(layout.columns[column].name) \(problem)", entityName: layout.name,
            attributeName: layout.columns[column].name)
    }
}

/// The rules for the range, length and pattern of an attribute's values.
struct AttributeRule {
    private let type: AttributeType
    private let storage: ColumnStorage
    private let minimum: AttributeValue?
    private let maximum: AttributeValue?
    /// The pattern that the whole string must match.
    private let pattern: Pattern?

    /// Returns nil if every value of the type is allowed.
    init?(_ attribute: AttributeDescription, _ storage: ColumnStorage) {
        type = attribute.type
        self.storage = storage
        minimum = attribute.minimum
        maximum = attribute.maximum
        pattern = attribute.pattern.map(Pattern.init)
        let hasLimits = [.integer16, .integer32, .decimal].contains(type)
        if minimum == nil && maximum == nil && pattern == nil && !hasLimits { return nil }
    }

    /// Describes why a value is invalid, as the end of a sentence; nil if the value is valid.
    func problem(_ row: RowSnapshot, _ column: Int) -> String? {
        switch storage {
        case .integer: problem(aboutInteger: row.integer(column))
        case .real: problem(aboutReal: row.real(column))
        case .text where type == .decimal: problem(aboutDecimal: row.text(column))
        case .text: problem(aboutText: row.text(column))
        case .blob: nil
        }
    }

    private func problem(aboutInteger value: Int64) -> String? {
        if type == .integer16 && Int16(exactly: value) == nil || type == .integer32 && Int32(exactly: value) == nil {
            return "holds a number outside the range of \(type.rawValue). Use a wider type."
        }
        if minimum == nil && maximum == nil { return nil }
        return rangeProblem(
            minimum.flatMap(\.asDecimal).map { Decimal(value) < $0 },
            maximum.flatMap(\.asDecimal).map { Decimal(value) > $0 })
    }

    private func problem(aboutReal value: Double) -> String? {
        return rangeProblem(
            minimum.flatMap(\.asDouble).map { value < $0 }, maximum.flatMap(\.asDouble).map { value > $0 })
    }

    private func problem(aboutDecimal text: String) -> String? {
        guard let value = Decimal(string: text, locale: Locale(identifier: "en_US_POSIX")), !value.isNaN else {
            return "is not a number (NaN), which a store cannot hold. Use nil for no value."
        }
        return rangeProblem(
            minimum.flatMap(\.asDecimal).map { value < $0 }, maximum.flatMap(\.asDecimal).map { value > $0 })
    }

    private func problem(aboutText text: String) -> String? {
        if minimum != nil || maximum != nil {
            let length = Double(text.count)
            if let minimum = minimum?.asDouble, length < minimum {
                return
                    "has fewer characters than the model requires: \(text.count) instead of at least \(Int64(minimum))."
            }
            if let maximum = maximum?.asDouble, length > maximum {
                return "has more characters than the model allows: \(text.count) instead of at most \(Int64(maximum))."
            }
        }
        guard let pattern, !pattern.matches(text) else { return nil }
        return "does not match the model's pattern \(pattern.text)."
    }

    private func rangeProblem(_ isLow: Bool?, _ isHigh: Bool?) -> String? {
        if isLow == true, let minimum { return "is less than \(minimum.displayText), the minimum in the model." }
        if isHigh == true, let maximum { return "is greater than \(maximum.displayText), the maximum in the model." }
        return nil
    }
}

/// A regular expression for whole strings.
private struct Pattern {
    let text: String
    /// The compiled expression. Nil if the expression is invalid; then the pattern matches nothing. A checked model has no
    /// invalid expression.
    private let expression: NSRegularExpression?

    init(_ text: String) {
        self.text = text
        do { expression = try NSRegularExpression(pattern: "\\A(?:\(text))\\z") } catch { expression = nil }
    }

    func matches(_ string: String) -> Bool {
        let whole = NSRange(string.startIndex..., in: string)
        return expression?.firstMatch(in: string, range: whole)?.range == whole
    }
}

extension AttributeValue {
    /// The value as error messages show it.
    fileprivate var displayText: String {
        switch self {
        case .integer(let value): "\(value)"
        case .double(let value): "\(value)"
        case .date(let value): DateText.display(value)
        case .decimal(let value): "\(value)"
        case .boolean, .string, .uuid: "the value"
        }
    }

    fileprivate var asDouble: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value), .date(let value): value
        case .decimal(let value): NSDecimalNumber(decimal: value).doubleValue
        case .boolean, .string, .uuid: nil
        }
    }

    fileprivate var asDecimal: Decimal? {
        switch self {
        case .integer(let value): Decimal(value)
        case .double(let value), .date(let value): Decimal(value)
        case .decimal(let value): value
        case .boolean, .string, .uuid: nil
        }
    }
}
