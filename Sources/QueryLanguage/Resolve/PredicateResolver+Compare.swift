internal import Foundation
internal import ManagedModel
package import RowStore

/// Resolves comparisons, strings and lists.
extension PredicateResolver {
    func compare(
        _ lhs: FetchExpression, _ relation: ComparisonOperator, to rhs: FetchExpression, options: StringOptions
    ) throws(DataSourceError) -> RowPredicate {
        if relation.isEquality, isAnother(lhs, rhs) || isAnother(rhs, lhs) {
            return .constant(relation == .notEqual)
        }
        if relation.isEquality {
            if let test = try absence(of: lhs, relation, rhs) { return test }
            if let test = try absence(of: rhs, relation, lhs) { return test }
        }
        let joinedCount = joins.columns.count
        let (left, right) = (try expression(lhs), try expression(rhs))
        if let test = existence(left, relation, to: right, joinedCount: joinedCount) { return test }
        return try compare(left, relation, to: right, options: options)
    }

    /// Compares a composite with nil: a composite is nil if all of its parts are nil. Returns nil for other comparisons.
    private func absence(
        of value: FetchExpression, _ relation: ComparisonOperator, _ other: FetchExpression
    ) throws(DataSourceError) -> RowPredicate? {
        guard case .constant(.null) = other else { return nil }
        var tests: [RowPredicate] = []
        for part in parts(ofComposite: value) {
            tests.append(try compare(value.appending([part]), relation, to: other, options: []))
        }
        if tests.isEmpty { return nil }
        return relation == .equal ? .and(tests) : .or(tests)
    }

    /// Whether `object` is the fetched object, and the id belongs to another entity. A decoded id can name any entity, but
    /// rows contain only keys. So the entity is checked here.
    private func isAnother(_ object: FetchExpression, _ id: FetchExpression) -> Bool {
        guard object == .object, case .constant(.objectID(let name, _)) = id else { return false }
        return model.entity(named: name).map { !layout.concreteFamily.contains($0.index) } ?? true
    }

    private func compare(
        _ lhs: TypedExpression, _ relation: ComparisonOperator, to rhs: TypedExpression, options: StringOptions
    ) throws(DataSourceError) -> RowPredicate {
        let (lhs, rhs) = (lhs.compared(to: rhs), rhs.compared(to: lhs))
        switch (lhs.expression, rhs.expression) {
        case (.column(let column), .constant(let value)):
            return try compare(column, of: lhs, relation, to: value, of: rhs, options: options)
        case (.constant(let value), .column(let column)):
            return try compare(column, of: rhs, relation.mirrored, to: value, of: lhs, options: options)
        case (.key, .constant(.integer(let key))) where rhs.kind == .objectID && relation.isEquality:
            return .compareKey(relation, key)
        case (.constant(.integer(let key)), .key) where lhs.kind == .objectID && relation.isEquality:
            return .compareKey(relation, key)
        default:
            return .compareExpressions(
                lhs.expression, relation, rhs.expression, try order(lhs, relation, to: rhs, options: options))
        }
    }

    /// The order by which values of two kinds are compared.
    private func order(
        _ lhs: TypedExpression, _ relation: ComparisonOperator, to rhs: TypedExpression, options: StringOptions
    ) throws(DataSourceError) -> ValueOrder {
        guard var kind = lhs.kind, var otherKind = rhs.kind else { return .natural }
        if lhs.isRaw, kind.storage == otherKind.storage { kind = otherKind }
        if rhs.isRaw, kind.storage == otherKind.storage { otherKind = kind }
        // Data can be compared with the bytes of a transformable.
        if kind == .transformable, otherKind == .data { otherKind = kind }
        if otherKind == .transformable, kind == .data { kind = otherKind }
        if kind.isNumber && otherKind.isNumber {
            return kind == .decimal || otherKind == .decimal ? .decimal : .natural
        }
        guard kind == otherKind || kind.isText && otherKind.isText else { throw mismatch(lhs, rhs) }
        guard relation.isEquality || kind.isOrdered else {
            throw invalid("\(kind.name) has no order. Compare such values for equality only.")
        }
        return kind.isText && options.folds ? .folded(options) : .natural
    }

    /// Compares a column with a constant, so that an index can be used.
    private func compare(
        _ column: Int, of one: TypedExpression, _ relation: ComparisonOperator, to value: RowValue,
        of other: TypedExpression, options: StringOptions
    ) throws(DataSourceError) -> RowPredicate {
        if value == .null { return .compare(column: column, relation, .null) }
        // NaN equals nothing and has no order.
        if case .real(let real) = value, real.isNaN { return .constant(relation == .notEqual) }
        let order = try order(one, relation, to: other, options: options)
        if case .folded = order {
            guard case .text(let text) = value, canCompareFolded(column, options) else {
                return .compareExpressions(.column(column), relation, .constant(value), order)
            }
            return .compare(column: column, relation, .text(TextFolding.string(text, options)))
        }
        guard one.kind?.isNumber == true, !other.isRaw else {
            guard value.fits(layout.order(of: column).storage) else { throw mismatch(one, other) }
            return .compare(column: column, relation, value)
        }
        return compareNumber(column, relation, value)
    }

    /// Whether a comparison with these options can compare the column's bytes with the folded constant. This is true for a
    /// column that stores folded strings, because folding them again does not change them.
    private func canCompareFolded(_ column: Int, _ options: StringOptions) -> Bool {
        options.folds && options.isDisjoint(with: [.localized, .characters]) && !JoinedColumn.isJoined(column)
            && layout.columns[column].isFolded
    }

    // MARK: Numbers

    /// Compares a column of numbers with a number of any kind, by their exact values.
    private func compareNumber(_ column: Int, _ relation: ComparisonOperator, _ value: RowValue) -> RowPredicate {
        switch NumberBound(value, layout.order(of: column)) {
        case .exact(let value): return .compare(column: column, relation, value)
        case .between(let low, let high):
            switch relation {
            case .equal: return .constant(false)
            case .notEqual: return .constant(true)
            case .less, .lessOrEqual:
                if let low { return .compare(column: column, .lessOrEqual, low) }
                if let high { return .compare(column: column, .less, high) }
                return .compare(column: column, .notEqual, .null)
            case .greater, .greaterOrEqual:
                if let high { return .compare(column: column, .greaterOrEqual, high) }
                if let low { return .compare(column: column, .greater, low) }
                return .compare(column: column, .notEqual, .null)
            }
        case .below: return outside(column, relation, isAbove: false)
        case .above: return outside(column, relation, isAbove: true)
        }
    }

    /// Compares a column with a number outside the range of the column.
    private func outside(_ column: Int, _ relation: ComparisonOperator, isAbove: Bool) -> RowPredicate {
        switch relation {
        case .equal: .constant(false)
        case .notEqual: .constant(true)
        case .less, .lessOrEqual: isAbove ? .compare(column: column, .notEqual, .null) : .constant(false)
        case .greater, .greaterOrEqual: isAbove ? .constant(false) : .compare(column: column, .notEqual, .null)
        }
    }

    // MARK: Lists

    func membership(
        _ lhs: FetchExpression, _ rhs: FetchExpression, _ options: StringOptions
    ) throws(DataSourceError) -> RowPredicate {
        guard case .list(let items) = rhs else {
            if let test = try relatedMembership(lhs, rhs, options) { return test }
            let value = try expression(rhs)
            if value.kind?.isText == false {
                throw invalid("\(value.description) is on the right side of IN, which must be a list or a string.")
            }
            // If the right side is a string, IN means CONTAINS with the sides swapped.
            return try text(rhs, .contains, with: lhs, options: options.union(.findsNoEmptyString))
        }
        let value = try expression(lhs)
        var (plain, ordered): ([RowValue], [ValueOrder: [RowValue]]) = ([], [:])
        var tests: [RowPredicate] = []
        for item in items where !isAnother(lhs, item) {
            let item = try expression(item)
            let test = try compare(value, .equal, to: item, options: options)
            switch (value.expression, test, item.expression) {
            case (_, .constant(false), _): break
            case (.column, .compare(_, .equal, let value), .constant): plain.append(value)
            case (.key, .compareKey(.equal, let key), .constant): plain.append(.integer(key))
            // Look up only values of the same kind, because equal values of different kinds can have different stored
            // values.
            case (_, .compareExpressions(_, .equal, _, let order), .constant(let constant))
            where value.kind == item.kind:
                if order == .natural { plain.append(constant) } else { ordered[order, default: []].append(constant) }
            default: tests.append(test)
            }
        }
        var all = ordered.map { RowPredicate.isMember(value.expression, ValueList($1, $0)) } + tests
        if !plain.isEmpty {
            let isListed: RowPredicate =
                if case .column(let column) = value.expression {
                    list(column, plain)
                } else {
                    .isMember(value.expression, ValueList(plain, .natural))
                }
            all.insert(isListed, at: 0)
        }
        return all.count == 1 ? all[0] : .or(all)
    }

    // MARK: Strings

    func text(
        _ lhs: FetchExpression, _ comparison: StringOperator, with rhs: FetchExpression, options: StringOptions
    ) throws(DataSourceError) -> RowPredicate {
        let (lhs, rhs) = (try expression(lhs), try expression(rhs))
        for side in [lhs, rhs] where side.kind?.isText == false {
            throw invalid(
                "\(side.description) is not a string. CONTAINS, BEGINSWITH, ENDSWITH, LIKE and MATCHES compare strings."
            )
        }
        if lhs.kind == nil || rhs.kind == nil { return .constant(false) }
        guard options.contains(.findsNoEmptyString) else {
            return try text(lhs, comparison, with: rhs, options: options)
        }
        let test = try text(lhs, comparison, with: rhs, options: options.subtracting(.findsNoEmptyString))
        switch rhs.expression {
        case .constant(let value): return value == .text("") ? .constant(false) : test
        case .column(let column): return .and([.compare(column: column, .notEqual, .text("")), test])
        default: return .and([.compareExpressions(rhs.expression, .notEqual, .constant(.text("")), .natural), test])
        }
    }

    private func text(
        _ lhs: TypedExpression, _ comparison: StringOperator, with rhs: TypedExpression, options: StringOptions
    ) throws(DataSourceError) -> RowPredicate {
        guard case .constant(.text(var pattern)) = rhs.expression else {
            if comparison == .matches {
                throw unsupported("The pattern of MATCHES has to be a constant")
            }
            return .dynamicText(lhs.expression, comparison, rhs.expression, options)
        }
        var options = options
        if comparison.findsParts, case .column(let column) = lhs.expression, canCompareFolded(column, options) {
            (pattern, options) = (TextFolding.string(pattern, options), [])
        }
        if comparison == .beginsWith, !options.folds, case .column(let column) = lhs.expression {
            return prefix(column, pattern)
        }
        return .text(lhs.expression, try StringMatcher(comparison, pattern, options))
    }

    /// The range of the strings with a prefix: from the prefix up to its successor. An index can find the range.
    private func prefix(_ column: Int, _ prefix: String) -> RowPredicate {
        if prefix.isEmpty { return .compare(column: column, .notEqual, .null) }
        let low = RowPredicate.compare(column: column, .greaterOrEqual, .text(prefix))
        guard let end = successor(of: prefix) else { return low }
        return .and([low, .compare(column: column, .less, .text(end))])
    }

    private func successor(of prefix: String) -> String? {
        var scalars = Array(prefix.unicodeScalars)
        while let last = scalars.popLast() {
            // Skip the surrogates, which are not scalars.
            guard let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) else { continue }
            var successor = String.UnicodeScalarView(scalars)
            successor.append(next)
            return String(successor)
        }
        return nil
    }

    private func mismatch(_ lhs: TypedExpression, _ rhs: TypedExpression) -> DataSourceError {
        invalid(
            "\(lhs.description) is compared with \(rhs.description), but needs \(lhs.kind?.name ?? "a value").",
            attribute: lhs.attribute ?? rhs.attribute)
    }
}

extension ValueKind {
    package var isText: Bool { self == .text || self == .uri }
}

extension StringOperator {
    /// Whether the operator searches the left side for the right side as it is, not as a pattern.
    fileprivate var findsParts: Bool { self == .contains || self == .beginsWith || self == .endsWith }
}

extension ComparisonOperator {
    var isEquality: Bool { self == .equal || self == .notEqual }
}

/// The position of a number among the possible numbers of a column.
private enum NumberBound {
    case exact(RowValue)
    /// Between two neighboring numbers of the column. A comparison needs only one of the two, so the other can be nil.
    case between(RowValue?, RowValue?)
    case below, above

    /// - Parameter value: A number that is not NaN.
    init(_ value: RowValue, _ column: ColumnOrder) {
        switch column.storage {
        case .integer: self.init(integer: value)
        case .real: self.init(real: value)
        default: self = .exact(.text(Decimal.canonical(value.decimalText ?? "")))
        }
    }

    private init(integer value: RowValue) {
        switch value {
        case .real(let real):
            if real >= 0x1p63 {
                self = .above
            } else if real < -0x1p63 {
                self = .below
            } else {
                let whole = Int64(real.rounded(.down))
                self =
                    real == Double(whole) && compareExactly(whole, real) == 0
                    ? .exact(.integer(whole)) : .between(.integer(whole), nil)
            }
        case .text(let text):
            guard let number = Decimal(rowText: text) else {
                self = .above
                return
            }
            if number > Decimal(rowText: "9223372036854775807") ?? 0 {
                self = .above
            } else if number < Decimal(rowText: "-9223372036854775808") ?? 0 {
                self = .below
            } else if let whole = Int64(number.description) {
                self = .exact(.integer(whole))
            } else {
                // Truncate toward zero.
                let cut = value.asInteger ?? 0
                self = number < 0 ? .between(nil, .integer(cut)) : .between(.integer(cut), nil)
            }
        default: self = .exact(value)
        }
    }

    private init(real value: RowValue) {
        guard let near = value.asReal else {
            self = .above
            return
        }
        let order: Int? =
            if case .integer(let integer) = value {
                compareExactly(integer, near)
            } else {
                ValueOrder.decimal.compare(value, .real(near))
            }
        switch order {
        case .some(let order) where order < 0: self = .between(nil, .real(near))
        case .some(let order) where order > 0: self = .between(.real(near), nil)
        default: self = .exact(.number(near))
        }
    }
}
