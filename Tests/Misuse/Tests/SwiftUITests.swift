import Foundation
import TestSupport
import Testing

/// The library's code for SwiftUI compiles, against a stand-in: there is no SwiftUI on Linux, and nobody has run it here.
@Suite(.serialized, .enabled(if: Compiler.isAvailable)) struct SwiftUITests {
    private static let standIn = PackageFiles.tests.appending(path: "Misuse/StandIn/SwiftUI.swift")
    private static let wrapper = PackageFiles.root.appending(
        path: "Sources/CoreDataSource/DataSource/ObservedList.swift")

    /// The errors of sources outside of the library, and of the library's own code for SwiftUI.
    private func errors(in view: String) async throws -> [String] {
        let directory = try TemporaryDirectory()
        let module = directory.url.appending(component: "SwiftUI.swiftmodule")
        let made = try await Subprocess(
            "swiftc",
            ["-emit-module", "-module-name", "SwiftUI", "-swift-version", "6", "-parse-as-library", "-o", module.path]
                + [Self.standIn.path])
        try #require(made.status == 0, "\(made.errors)")
        // Outside of its module, the code has to import it. It uses only what is public there, or visible in the package.
        let code = try String(contentsOf: Self.wrapper, encoding: .utf8)
        let copy = directory.url.appending(component: "ObservedList.swift")
        try Data("public import CoreDataSource\n\(code)".utf8).write(to: copy)
        let file = directory.url.appending(component: "View.swift")
        try Data("import CoreDataSource\nimport SwiftUI\n\(view)".utf8).write(to: file)
        return try await Compiler.errors(
            in: file,
            more: [
                copy.path, "-I", directory.url.path, "-package-name", PackageFiles.root.lastPathComponent.lowercased(),
            ])
    }

    @Test func theWrapperCompilesInAView() async throws {
        let view = """
            struct ContactsView: View {
                @ObservedList(ObjectRequest(Contact.self, order: [.ascending(\\.name)]))
                private var contacts

                var body: some View {
                    List(contacts) { contact in Text(contact.name) }
                }

                var isPaused: Bool { $contacts?.isPaused ?? false }
                var failure: (any Error)? { _contacts.error }
            }

            @MainActor func show(_ contacts: ContactDataSource) -> some View {
                ContactsView().listSource(contacts)
            }
            """
        #expect(try await errors(in: view) == [])
    }

    /// The stand-in has not made everything compile.
    @Test func theRowsHaveTheAttributesOfTheirObjects() async throws {
        let view = """
            struct ContactsView: View {
                @ObservedList(ObjectRequest(Contact.self)) private var contacts

                var body: some View {
                    List(contacts) { contact in Text(contact.nickname) }
                }
            }
            """
        #expect(try await errors(in: view).contains { $0.contains("nickname") })
    }
}
