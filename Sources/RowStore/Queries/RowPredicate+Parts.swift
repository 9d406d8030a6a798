extension RowPredicate {
    /// Calls the body with every text test in the predicate.
    fileprivate func forEachTest(_ body: (TextTest) throws(DataSourceError) -> Void) throws(DataSourceError) {
        switch self {
        case .constant, .compare, .isIn, .compareKey, .follows: return
        case .text(let value, let test):
            try body(test)
            try value.forEachTest(body)
        case .relate(let one, _, let other, _), .textOf(let one, _, let other, _):
            try one.forEachTest(body)
            try other.forEachTest(body)
        case .isMember(let value, _): try value.forEachTest(body)
        case .not(let inner): try inner.forEachTest(body)
        case .and(let parts), .or(let parts): for part in parts { try part.forEachTest(body) }
        }
    }

    /// Throws `invalidPredicate` if a row could not be tested: a regular expression took too long. Ask after using it.
    package func checkTexts() throws(DataSourceError) {
        try forEachTest { test throws(DataSourceError) in try test.checkTexts() }
    }

    /// Adds the columns that the predicate asks for.
    ///
    /// - Returns: Whether it asks for the row's own key too.
    package func collectColumns(_ columns: inout Set<Int>) -> Bool {
        switch self {
        case .constant: return false
        case .compare(let column, _, _), .isIn(let column, _):
            columns.insert(column)
            return false
        case .compareKey: return true
        case .relate(let one, _, let other, _), .textOf(let one, _, let other, _):
            let asksOne = one.collectColumns(&columns)
            return other.collectColumns(&columns) || asksOne
        case .isMember(let value, _), .text(let value, _): return value.collectColumns(&columns)
        case .follows(_, let sort):
            for key in sort { columns.insert(key.column) }
            return true
        case .not(let inner): return inner.collectColumns(&columns)
        case .and(let parts), .or(let parts):
            return parts.reduce(false) { $1.collectColumns(&columns) || $0 }
        }
    }
}

extension RowExpression {
    fileprivate func forEachTest(_ body: (TextTest) throws(DataSourceError) -> Void) throws(DataSourceError) {
        switch self {
        case .column, .key, .constant: return
        case .arithmetic(let one, _, let other, _), .coalesce(let one, let other):
            try one.forEachTest(body)
            try other.forEachTest(body)
        case .negated(let inner, _), .cast(let inner, _, _): try inner.forEachTest(body)
        case .function(_, let arguments, _): for argument in arguments { try argument.forEachTest(body) }
        case .conditional(let test, let one, let other):
            try test.forEachTest(body)
            try one.forEachTest(body)
            try other.forEachTest(body)
        }
    }

    fileprivate func collectColumns(_ columns: inout Set<Int>) -> Bool {
        switch self {
        case .column(let column):
            columns.insert(column)
            return false
        case .key: return true
        case .constant: return false
        case .arithmetic(let one, _, let other, _), .coalesce(let one, let other):
            let asksOne = one.collectColumns(&columns)
            return other.collectColumns(&columns) || asksOne
        case .negated(let inner, _), .cast(let inner, _, _): return inner.collectColumns(&columns)
        case .function(_, let arguments, _): return arguments.reduce(false) { $1.collectColumns(&columns) || $0 }
        case .conditional(let test, let one, let other):
            let asks = test.collectColumns(&columns)
            let asksOne = one.collectColumns(&columns)
            return other.collectColumns(&columns) || asksOne || asks
        }
    }
}
