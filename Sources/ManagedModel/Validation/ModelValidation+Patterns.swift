internal import Foundation

extension ModelValidation {
    /// Checks that the pattern of each attribute is a regular expression. Another one could check no value.
    func checkPatterns() throws(ModelError) {
        for entity in model.entities { try checkPatterns(entity.attributes, of: entity.name) }
        for composite in model.composites { try checkPatterns(composite.attributes, of: composite.name) }
    }

    private func checkPatterns(_ attributes: [AttributeDescription], of name: String) throws(ModelError) {
        for attribute in attributes {
            guard let pattern = attribute.pattern, !pattern.isEmpty else { continue }
            do {
                // Separately, because an expression with unbalanced parentheses could become valid when it is put into parentheses.
                _ = try NSRegularExpression(pattern: pattern)
                _ = try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z")
            } catch {
                throw ModelError(
                    .invalidPattern, entity: name, property: attribute.name,
                    "The pattern \(pattern) of \(name).\(attribute.name) is not a regular expression. Correct it, or leave it out."
                )
            }
        }
    }
}
