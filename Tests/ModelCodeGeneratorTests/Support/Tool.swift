import Foundation
import TestSupport

extension Subprocess {
    /// Runs the generator's tool, as it was built for this test run.
    static func tool(_ arguments: [String]) async throws -> Subprocess {
        try await Subprocess(PackageFiles.products.appending(component: "model-codegen").path, arguments)
    }
}

extension PackageFiles {
    /// The files that this target excludes.
    static let cases = tests.appending(component: "ModelCodeGeneratorTests")
}
