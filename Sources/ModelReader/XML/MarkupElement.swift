internal import Foundation

/// One element of a file: its attributes and the elements in it. Model files contain no text.
///
/// Names have one form of Unicode, NFC, whatever the file has: the hash and the tables of a store see their bytes.
struct MarkupElement: Sendable {
    var name: String
    var attributes: [String: String]
    /// The line on which its tag starts.
    var line: Int
    var children: [MarkupElement] = []

    init(name: String, attributes: [String: String], line: Int) {
        self.name = name
        self.line = line
        self.attributes = attributes
        guard name != "entry" else { return }
        for (attribute, value) in attributes where !MarkupElement.texts.contains(attribute) && !value.utf8.isASCII {
            self.attributes[attribute] = value.precomposedStringWithCanonicalMapping
        }
    }

    /// The attributes with text of the author's own, as are the entries of user info.
    private static let texts: Set = [
        "defaultValueString", "predicateString", "regularExpressionString", "userDefinedModelVersionIdentifier",
    ]

    /// The children of that name, in the order of the file.
    func children(named name: String) -> [MarkupElement] {
        children.filter { $0.name == name }
    }

    /// The attribute's value, or nil. An empty value counts as a value.
    subscript(_ attribute: String) -> String? {
        attributes[attribute]
    }

    /// The attribute's value, or nil if it is absent or empty.
    func filled(_ attribute: String) -> String? {
        attributes[attribute].flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension String.UTF8View {
    fileprivate var isASCII: Bool { allSatisfy { $0 < 0x80 } }
}
