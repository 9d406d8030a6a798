internal import ManagedModel

/// Writes the imports that a file needs, and as visible as they must be: an import that no declaration of its level
/// uses is a warning.
struct ImportText {
    let plan: ModelPlan
    let access: AccessLevel

    func write(to text: inout SourceText) {
        // A plain import goes with any other import of the module, whichever way the app's target reads it.
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
