import Foundation
import TestSupport
import Testing

/// The reference lists the members of all modules on the page of their type, as if one import were enough for all of them.
struct ModuleSentenceTests {
    /// A comment, and the first line of its declaration without attributes.
    private struct Declaration {
        var comment: [Substring] = []
        var line: Substring
        /// The first line of the extension, protocol or class around the declaration; nil at the top level.
        var parent: Substring?

        /// Whether the page of a type of another module can list the declaration, or whether it is a type itself.
        var isListedElsewhere: Bool {
            guard let parent else { return line.contains(/\b(public|open)\b/) && !line.hasPrefix("public import ") }
            if parent.contains(/\bpublic protocol\b/) { return true }
            return parent.hasPrefix("extension ") && line.contains(/\bpublic\b/)
        }
    }

    private func declarations(in text: String) -> [Declaration] {
        var (comment, parent, found): ([Substring], Substring?, [Declaration]) = ([], nil, [])
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            let code = line.drop { $0 == " " }
            let depth = line.count - code.count
            if code.hasPrefix("///") {
                comment.append(code)
            } else if depth <= 4, !code.isEmpty, code.prefixMatch(of: /@\w+$/) == nil {
                if depth == 4 || !code.hasPrefix("}") {
                    found.append(Declaration(comment: comment, line: code, parent: depth == 0 ? nil : parent))
                }
                if depth == 0 { parent = code }
                comment = []
            }
        }
        return found
    }

    @Test(arguments: [("CoreDataSourceActiveRecord", 25), ("CoreDataSourceStores", 1)])
    func theProductIsNamedWhereItsMembersAreListed(module: String, leastCount: Int) throws {
        let folder = PackageFiles.root.appending(components: "Sources", module)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let listed = try files.filter { $0.pathExtension == "swift" }
            .flatMap { declarations(in: try String(contentsOf: $0, encoding: .utf8)) }
            .filter { $0.isListedElsewhere && !$0.comment.isEmpty }
        #expect(listed.count >= leastCount)
        for declaration in listed {
            // The page of a type lists the first paragraph of a comment.
            let summary = declaration.comment.prefix { $0 != "///" }.joined(separator: " ")
            #expect(summary.hasSuffix("In the module `\(module)`."), "No module at \(declaration.line)")
        }
    }
}
