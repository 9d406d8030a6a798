import ModelSource

/// One input of libFuzzer: the text of a declaration. Each macro expands it or refuses it, with diagnostics that are in the text.
/// What is expanded in spite of a mistake can be read.
/// `Scripts/fuzz model-source` builds and runs this.
@c(LLVMFuzzerTestOneInput)
public func takeOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
    for (macro, role) in uses {
        let expansion = MacroExpansion(macro: macro, role: role, attribute: "@\(macro)", declaration: text)
        // The accessors' diagnostics are about the attribute and the declaration, with a space between them.
        let length = text.utf8.count + macro.utf8.count + 2
        precondition(
            expansion.diagnostics.allSatisfy { 0...length ~= $0.offset && !$0.message.isEmpty },
            "A diagnostic says nothing, or is not in the text.")
        precondition(
            !expansion.diagnostics.hasErrors || SwiftSource(expansion.text).syntaxError == nil,
            "The expansion of a declaration with a mistake cannot be read.")
    }
    return 0
}

private let uses: [(macro: String, role: MacroExpansion.Role)] = [
    ("StoredEntity", .member), ("StoredEntity", .memberAttribute), ("Stored", .accessor), ("Related", .accessor),
    ("StoredComposite", .member), ("StoredComposite", .extension),
]
