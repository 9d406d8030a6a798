/// One element of a file: its attributes and the elements in it. Model files contain no text.
struct MarkupElement: Sendable {
    var name: String
    var attributes: [String: String]
    /// The line on which its tag starts.
    var line: Int
    var children: [MarkupElement] = []

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
