internal import Foundation

// Lists, strings and dictionaries.

extension PredicateExpressions.SequenceContainsWhere: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Bool {
        guard let list = try scope.present(sequence) else { return false }
        var isFound = false
        try scope.each(list) { element in
            isFound = try scope.binding(variable, to: element).holds(test)
            return !isFound
        }
        return isFound
    }
}

extension PredicateExpressions.SequenceAllSatisfy: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Bool {
        guard let list = try scope.present(sequence) else { return false }
        var isTrue = true
        try scope.each(list) { element in
            isTrue = try scope.binding(variable, to: element).holds(test)
            return isTrue
        }
        return isTrue
    }
}

extension PredicateExpressions.Filter: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> [LHS.Output.Element] {
        var found: [LHS.Output.Element] = []
        try scope.each(scope.value(sequence)) { element in
            if try scope.binding(variable, to: element).holds(filter) { found.append(element) }
            return true
        }
        return found
    }
}

extension PredicateExpressions.SequenceContains: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Bool {
        guard let list = try scope.present(sequence) else { return false }
        let element = try scope.present(element)
        if let element, list is any StoredElements || list is any CountedRange { return list.contains(element) }
        var isFound = false
        try scope.each(list) {
            isFound = element.map { [element = $0] in element == $0 } ?? isAbsent($0)
            return !isFound
        }
        return isFound
    }
}

extension PredicateExpressions.SequenceMinimum: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Elements.Output.Element? {
        try scope.extreme(elements) { $0 < $1 }
    }
}

extension PredicateExpressions.SequenceMaximum: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Elements.Output.Element? {
        try scope.extreme(elements) { $1 < $0 }
    }
}

extension EvaluationScope {
    /// The first of the elements that no other one precedes.
    fileprivate func extreme<Elements: PredicateExpression>(
        _ elements: Elements, _ isBefore: (Elements.Output.Element, Elements.Output.Element) -> Bool
    ) throws -> Elements.Output.Element? where Elements.Output: Sequence {
        var extreme: Elements.Output.Element?
        try each(value(elements)) { element in
            guard let current = extreme else {
                extreme = element
                return true
            }
            if isBefore(element, current) { extreme = element }
            return true
        }
        return extreme
    }
}

// MARK: Parts of lists

extension PredicateExpressions.SequenceStartsWith: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Bool {
        guard let base = try scope.present(base), let prefix = try scope.present(prefix) else { return false }
        try scope.checkEnd(base)
        var rest = base.makeIterator()
        var isStart = true
        try scope.each(prefix) { element in
            isStart = rest.next() == element
            return isStart
        }
        return isStart
    }
}

extension PredicateExpressions.CollectionContainsCollection: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Bool {
        guard let base = try scope.present(base), let other = try scope.present(other) else { return false }
        // A range is walked through once before, because it may have no end.
        if !(base is any StoredElements) { try scope.each(base) { _ in true } }
        if !(other is any StoredElements) { try scope.each(other) { _ in true } }
        return base.contains(other)
    }
}

extension PredicateExpressions.StringContainsRegex: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Bool {
        guard let text = try scope.present(subject), let pattern = try scope.present(regex) else { return false }
        return text.contains(pattern)
    }
}

// MARK: Subscripts

extension PredicateExpressions.CollectionIndexSubscript: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Wrapped.Output.Element {
        let (list, index) = (try scope.value(wrapped), try scope.value(index))
        guard list.startIndex <= index, index < list.endIndex else {
            throw UnsafeValue(description: "an index beyond the end of a list")
        }
        return list[index]
    }
}

extension PredicateExpressions.CollectionRangeSubscript: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Wrapped.Output.SubSequence {
        let (list, range) = (try scope.value(wrapped), try scope.value(range))
        guard list.startIndex <= range.lowerBound, range.upperBound <= list.endIndex else {
            throw UnsafeValue(description: "an index beyond the end of a list")
        }
        return list[range]
    }
}

extension PredicateExpressions.DictionaryKeySubscript: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Value? { try scope.value(wrapped)[scope.value(key)] }
}

extension PredicateExpressions.DictionaryKeyDefaultValueSubscript: SafelyEvaluated {
    func safely(_ scope: EvaluationScope) throws -> Default.Output {
        try scope.value(wrapped)[scope.value(key)] ?? scope.value(`default`)
    }
}
