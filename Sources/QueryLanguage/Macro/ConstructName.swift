internal import Foundation

/// The name of a node in the source of a predicate, for messages.
func constructName(_ expression: any PredicateExpression) -> String {
    let type = "\(type(of: expression))".prefix { $0 != "<" }
    let name = type.split(separator: ".").last.map(String.init) ?? String(type)
    return sourceNames[name] ?? name
}

/// The names of the nodes that Foundation calls by other names.
private let sourceNames = [
    "CollectionIndexSubscript": "a subscript",
    "CollectionRangeSubscript": "a subscript",
    "DictionaryKeyDefaultValueSubscript": "a subscript",
    "DictionaryKeySubscript": "a subscript",
    "ExpressionEvaluate": ".evaluate",
    "Filter": ".filter",
    "PredicateEvaluate": ".evaluate",
    "SequenceMaximum": ".max()",
    "SequenceMinimum": ".min()",
    "StringCaseInsensitiveCompare": ".caseInsensitiveCompare",
    "StringContainsRegex": ".contains of a regular expression",
    "StringLocalizedCompare": ".localizedCompare",
    "StringLocalizedStandardContains": ".localizedStandardContains",
    "TypeCheck": "is",
]
