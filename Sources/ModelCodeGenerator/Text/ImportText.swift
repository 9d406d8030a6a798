internal import ManagedModel

/// Writes the imports that a file needs, with the lowest access level that is enough: an import that is more visible than its
/// uses is a warning.
struct ImportText {
    let plan: ModelPlan
    let access: AccessLevel

    func write(to text: inout SourceText) {
        // A plain import is compatible with any other import of the module, in every mode of the app's target.
        text.line("\(access.prefix)import CoreDataSource")
        if isFoundationInDeclarations {
            text.line("\(access.prefix)import Foundation")
        } else if isFoundationInLiteral {
            text.line("import Foundation")
        }
    }

    private var isFoundationInDeclarations: Bool {
        (plan.entities.map(\.list) + plan.composites.map(\.list)).contains { list in
            list.properties.contains(where: \.type.needsFoundation)
        }
    }

    private var isFoundationInLiteral: Bool {
        let attributes = plan.model.entities.flatMap(\.attributes) + plan.model.composites.flatMap(\.attributes)
        return attributes.contains { attribute in
            [attribute.defaultValue, attribute.minimum, attribute.maximum].contains { $0?.needsFoundation == true }
        }
    }
}
